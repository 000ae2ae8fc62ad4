"""One hostile org, fourteen attacks at once: `python -m tests.hostile.attackers SPEC`.

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
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx2
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
    until: float
    seen: dict[str, Counter[str]] = field(default_factory=dict)

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {random.choice(self.keys)}"}

    def note(self, attack: str, what: str) -> None:
        self.seen.setdefault(attack, Counter())[what] += 1

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self.until


Attack = Callable[[Org, httpx2.AsyncClient], Awaitable[str]]


async def long_address(org: Org, client: httpx2.AsyncClient) -> str:
    body = {"email": "1" * 16_000, "password": "x"}
    return str((await client.post("/api/session", json=body)).status_code)


async def unknown_fields(org: Org, client: httpx2.AsyncClient) -> str:
    body = {f"field{n}": n for n in range(90_000)}
    return str((await client.post("/api/session", json=body)).status_code)


async def wrong_password(org: Org, client: httpx2.AsyncClient) -> str:
    body = {"email": "owner@innocent", "password": "wrong"}
    return str((await client.post("/api/session", json=body)).status_code)


async def comments(org: Org, client: httpx2.AsyncClient) -> str:
    files = {"file": ("list.xml", b"<!---->" * 5000 + b"<x", "text/xml")}
    answer = await client.post("/api/jobs/preview", files=files, headers=org.headers())
    return str(answer.status_code)


async def slow_workbook(org: Org, client: httpx2.AsyncClient) -> str:
    rows = '<row hidden="1"' + " " * 200_000 + "/>"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
        book.writestr("xl/worksheets/sheet1.xml", _SHEET.format(rows))
    files = {"file": ("list.xlsx", packed.getvalue(), "application/octet-stream")}
    answer = await client.post("/api/jobs/preview", files=files, headers=org.headers())
    return str(answer.status_code)


async def large_preview(org: Org, client: httpx2.AsyncClient) -> str:
    content = b"sku;title;price\n" + b"".join(
        b"%d;%s;%d,%02d\n" % (n, b"x" * 40, n, n % 100) for n in range(60_000)
    )
    files = {"file": ("list.csv", content, "text/csv")}
    answer = await client.post("/api/jobs/preview", files=files, headers=org.headers())
    return str(answer.status_code)


async def export(org: Org, client: httpx2.AsyncClient) -> str:
    answer = await client.post(
        f"/api/jobs/{org.job}/export",
        params={"format": random.choice(["xlsx", "csv", "json"])},
        headers=org.headers(),
    )
    return str(answer.status_code)


async def search(org: Org, client: httpx2.AsyncClient) -> str:
    path, query = random.choice(
        [
            (f"/api/jobs/{org.job}/items", {"q": "zzzz", "pageSize": "1000"}),
            (f"/api/jobs/{org.job}/items", {"pageSize": "1000"}),
            ("/api/products", {"q": "saw blade"}),
            ("/api/jobs", {"q": "x", "pageSize": "200"}),
        ]
    )
    answer = await client.get(path, params=query, headers=org.headers())
    return str(answer.status_code)


async def flood_of_jobs(org: Org, client: httpx2.AsyncClient) -> str:
    content = b"sku,title\n" + b"".join(b"%d,Thing %d\n" % (n, n) for n in range(2000))
    files = {"file": (f"{random.random()}.csv", content, "text/csv")}
    answer = await client.post("/api/jobs", files=files, headers=org.headers())
    return str(answer.status_code)


async def wide_rows(org: Org, client: httpx2.AsyncClient) -> str:
    content = json.dumps([{"sku": str(n), "title": "x" * 100_000} for n in range(50)]).encode()
    files = {"file": ("wide.json", content, "application/json")}
    answer = await client.post("/api/jobs", files=files, headers=org.headers())
    return str(answer.status_code)


async def profile(org: Org, client: httpx2.AsyncClient) -> str:
    body = random.choice(
        [{"columns": 3}, {"rules": [[]]}, {"required": {"a": 1}}, {"columns": {"a": "b" * 60_000}}]
    )
    answer = await client.put("/api/profiles/evil", json=body, headers=org.headers())
    return str(answer.status_code)


async def stream(org: Org, client: httpx2.AsyncClient) -> str:
    headers = {"Authorization": f"Bearer {org.viewer}", "Accept": "text/event-stream"}
    async with client.stream("GET", "/api/events", headers=headers) as answer:
        if answer.status_code == 200:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(5):
                    async for _ in answer.aiter_bytes():
                        pass
        return str(answer.status_code)


async def message(org: Org, client: httpx2.AsyncClient) -> str:
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


async def slow_upload(org: Org, client: httpx2.AsyncClient) -> str:
    async def trickle() -> Any:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nsku\n'
        while org.goes_on:
            await asyncio.sleep(1)
            yield b"1,x\n"

    headers = org.headers() | {"Content-Type": "multipart/form-data; boundary=x"}
    answer = await client.post("/api/files", content=trickle(), headers=headers)
    return str(answer.status_code)


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
}


async def repeat(org: Org, attack: Attack) -> None:
    """Again and again, by one client."""
    name = attack.__name__
    async with httpx2.AsyncClient(base_url=org.url, timeout=60) as client:
        while org.goes_on:
            try:
                org.note(name, await attack(org, client))
            except Exception as error:
                org.note(name, type(error).__name__)
            # A hostile client is no busy loop: it waits for what it breaks.
            await asyncio.sleep(0.05)


async def main(spec: dict[str, Any]) -> None:
    seconds = spec.pop("seconds")
    org = Org(**spec, until=time.monotonic() + seconds)
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
    print(json.dumps({name: dict(counts) for name, counts in sorted(org.seen.items())}))


if __name__ == "__main__":
    os.nice(19)
    asyncio.run(main(json.loads(sys.argv[1])))
