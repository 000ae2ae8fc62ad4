"""One hostile org, seventeen attacks at once: `python -m tests.hostile.attackers SPEC`.

A process of its own, with the lowest priority: attackers sit on other machines, and must not take
the processor from what they attack. Prints what came of each attack as JSON when it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import random
import sys
import time
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.hostile.hostile_files import serve_hostile_files
from tests.hostile.raw_http import RawClient, encoded_file, encoded_json
from websockets.asyncio.client import connect

MEBIBYTE = 1024 * 1024
_SHEET = (
    '<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/'
    'main"><sheetData>{}</sheetData></worksheet>'
)


@dataclass
class Org:
    """Who attacks: the address, keys of several users, and until when."""

    url: str
    keys: list[str]
    viewer: str
    job: str
    files_port: int
    products: list[str]
    until: float
    seen: dict[str, Counter[str]] = field(default_factory=dict)

    def key(self) -> str:
        return random.choice(self.keys)

    def note(self, attack: str, what: str) -> None:
        self.seen.setdefault(attack, Counter())[what] += 1

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self.until


Attack = Callable[[Org, RawClient], Awaitable[str]]


def _slow_workbook() -> bytes:
    rows = '<row hidden="1"' + " " * 200_000 + "/>"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
        book.writestr("xl/worksheets/sheet1.xml", _SHEET.format(rows))
    return packed.getvalue()


_LONG_ADDRESS = encoded_json({"email": "1" * 16_000, "password": "x"})
_UNKNOWN_FIELDS = encoded_json({f"field{n}": n for n in range(90_000)})
_WRONG_PASSWORD = encoded_json({"email": "owner@innocent", "password": "wrong"})
_COMMENTS = encoded_file("list.xml", b"<!---->" * 5000 + b"<x")
_SLOW_WORKBOOK = encoded_file("list.xlsx", _slow_workbook())
_LARGE_LIST = encoded_file(
    "list.csv",
    b"sku;title;price\n"
    + b"".join(b"%d;%s;%d,%02d\n" % (n, b"x" * 40, n, n % 100) for n in range(60_000)),
)
_SMALL_LIST = b"sku,title\n" + b"".join(b"%d,Thing %d\n" % (n, n) for n in range(2000))
_WIDE_ROWS = encoded_file(
    "wide.json",
    json.dumps([{"sku": str(n), "title": "x" * 100_000} for n in range(50)]).encode(),
)
_PROFILES = [
    encoded_json({"columns": 3}),
    encoded_json({"rules": [[]]}),
    encoded_json({"required": {"a": 1}}),
    encoded_json({"columns": {"a": "b" * 60_000}}),
]


async def long_address(org: Org, client: RawClient) -> str:
    return str(await client.send("POST", "/api/session", _LONG_ADDRESS))


async def unknown_fields(org: Org, client: RawClient) -> str:
    return str(await client.send("POST", "/api/session", _UNKNOWN_FIELDS))


async def wrong_password(org: Org, client: RawClient) -> str:
    return str(await client.send("POST", "/api/session", _WRONG_PASSWORD))


async def comments(org: Org, client: RawClient) -> str:
    return str(await client.send("POST", "/api/jobs/preview", _COMMENTS, key=org.key()))


async def slow_workbook(org: Org, client: RawClient) -> str:
    return str(await client.send("POST", "/api/jobs/preview", _SLOW_WORKBOOK, key=org.key()))


async def large_preview(org: Org, client: RawClient) -> str:
    return str(await client.send("POST", "/api/jobs/preview", _LARGE_LIST, key=org.key()))


async def export(org: Org, client: RawClient) -> str:
    query = {"format": random.choice(["xlsx", "csv", "json"])}
    path = f"/api/jobs/{org.job}/export"
    return str(await client.send("POST", path, key=org.key(), query=query))


async def search(org: Org, client: RawClient) -> str:
    path, query = random.choice(
        [
            (f"/api/jobs/{org.job}/items", {"q": "zzzz", "pageSize": "1000"}),
            (f"/api/jobs/{org.job}/items", {"pageSize": "1000"}),
            ("/api/products", {"q": "saw blade"}),
            ("/api/jobs", {"q": "x", "pageSize": "200"}),
        ]
    )
    return str(await client.send("GET", path, key=org.key(), query=query))


async def flood_of_jobs(org: Org, client: RawClient) -> str:
    body = encoded_file(f"{random.random()}.csv", _SMALL_LIST)
    return str(await client.send("POST", "/api/jobs", body, key=org.key()))


async def wide_rows(org: Org, client: RawClient) -> str:
    return str(await client.send("POST", "/api/jobs", _WIDE_ROWS, key=org.key()))


async def profile(org: Org, client: RawClient) -> str:
    body = random.choice(_PROFILES)
    return str(await client.send("PUT", "/api/profiles/evil", body, key=org.key()))


async def stream(org: Org, client: RawClient) -> str:
    try:
        async with asyncio.timeout(5):
            accept = "text/event-stream"
            return str(await client.send("GET", "/api/events", key=org.viewer, accept=accept))
    except TimeoutError:
        return "open"


async def message(org: Org, client: RawClient) -> str:
    headers = {"Authorization": f"Bearer {org.viewer}"}
    url = org.url.replace("http", "ws") + "/ws"
    async with connect(url, additional_headers=headers, max_size=None) as socket:
        messages: list[str | bytes] = ["[" * 14 * MEBIBYTE, "{", b"\x00"]
        await socket.send(random.choice(messages))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                while True:
                    await socket.recv()
        return "open"


async def slow_upload(org: Org, client: RawClient) -> str:
    async def trickle() -> AsyncIterator[bytes]:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nsku\n'
        while org.goes_on:
            await asyncio.sleep(1)
            yield b"1,x\n"

    kind = "multipart/form-data; boundary=x"
    return str(await client.trickle("POST", "/api/files", kind, trickle(), key=org.key()))


async def picture(org: Org, client: RawClient) -> str:
    path = f"/api/products/{random.choice(org.products)}/images/0"
    return str(await client.send("GET", path, key=org.key()))


async def file_by_url(org: Org, client: RawClient) -> str:
    url = f"http://127.0.0.1:{org.files_port}/{random.random()}.csv"
    return str(await client.send("POST", "/api/jobs", encoded_json({"url": url}), key=org.key()))


async def kickoff(org: Org, client: RawClient) -> str:
    """Has the API itself work on a job."""
    key = org.key()
    body = encoded_file(f"{random.random()}.csv", _SMALL_LIST)
    status = await client.send("POST", "/api/jobs", body, key=key)
    if status != 202:
        return f"submit {status}"
    path = f"/api/jobs/{json.loads(client.body)['jobId']}/kickoff"
    return str(await client.send("POST", path, key=key, query={"durationMs": "10000"}))


ATTACKS: dict[Attack, int] = {
    long_address: 2,
    unknown_fields: 1,
    wrong_password: 2,
    comments: 3,
    slow_workbook: 3,
    large_preview: 3,
    export: 30,
    search: 10,
    flood_of_jobs: 3,
    wide_rows: 1,
    profile: 2,
    stream: 40,
    message: 3,
    slow_upload: 40,
    picture: 10,
    file_by_url: 10,
    kickoff: 4,
}


async def repeat(org: Org, attack: Attack) -> None:
    """Again and again, by one client."""
    name = attack.__name__
    client = RawClient(org.url)
    while org.goes_on:
        try:
            org.note(name, await attack(org, client))
        except Exception as error:
            client.close()
            org.note(name, type(error).__name__)
        # A hostile client is no busy loop: it waits for what it breaks.
        await asyncio.sleep(0.05)


async def main(spec: dict[str, Any]) -> None:
    seconds = spec.pop("seconds")
    org = Org(**spec, until=time.monotonic() + seconds)
    files = await serve_hostile_files(org.files_port)
    tasks = [
        asyncio.create_task(repeat(org, attack))
        for attack, clients in ATTACKS.items()
        for _ in range(clients)
    ]
    await asyncio.sleep(seconds)
    await asyncio.wait(tasks, timeout=1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    files.close()
    print(json.dumps({name: dict(counts) for name, counts in sorted(org.seen.items())}))


if __name__ == "__main__":
    os.nice(19)
    asyncio.run(main(json.loads(sys.argv[1])))
