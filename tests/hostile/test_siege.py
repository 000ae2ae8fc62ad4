"""One hostile org runs seventeen attacks at once; an innocent one works as it always does."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest
from tests.browser.house import House
from tests.hostile.processor_time import ProcessorTime
from tests.ports import free_port

from penstock.store.accounts import accounts

SECONDS = float(os.environ.get("PENSTOCK_TEST_SIEGE_SECONDS", "120"))
_QUIET_SECONDS = min(30.0, SECONDS)
_ROOT = Path(__file__).resolve().parents[2]
_MOST_RESIDENT = 700 * 1024 * 1024
GOODS = b"sku;title;price;stock\n" + b"".join(
    b"A-%d;Hammer %d;%d,90;in stock\n" % (n, n, n) for n in range(200)
)
Timed = dict[str, list[float]]


@pytest.fixture
def house(owner_dsn: str, tmp_path: Path) -> Any:
    made = House(owner_dsn, tmp_path)
    made.open()
    try:
        yield made
    finally:
        made.close()


class Innocent:
    """Imports, pages, previews, exports and looks at its jobs, one thing after the other."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client
        self.failed: list[str] = []
        self.job = ""

    async def once(self, timed: Timed) -> None:
        made = await self._time(timed, "submit", self._submit)
        await self._time(timed, "import", lambda: self._until_done(made))
        self.job = made or self.job
        items = f"/api/jobs/{self.job}/items"
        for _ in range(3):
            await self._time(timed, "page", lambda: self._ask("GET", items, pageSize="100"))
            await self._time(timed, "list", lambda: self._ask("GET", "/api/jobs"))
        await self._time(timed, "preview", self._preview)
        export = f"/api/jobs/{self.job}/export"
        await self._time(timed, "export", lambda: self._ask("POST", export, format="xlsx"))

    async def _time(self, timed: Timed, name: str, act: Callable[[], Awaitable[Any]]) -> Any:
        began = time.monotonic()
        try:
            return await act()
        except Exception as error:
            self.failed.append(f"{name}: {error!r}")
            return None
        finally:
            timed.setdefault(name, []).append((time.monotonic() - began) * 1000)
            # Well below the number of requests that a key may make.
            await asyncio.sleep(0.05)

    async def _ask(self, method: str, path: str, **query: str) -> httpx2.Response:
        answer = await self._client.request(method, path, params=query)
        return _fine(answer)

    async def _submit(self) -> str:
        files = {"file": ("goods.csv", GOODS + str(time.time()).encode(), "text/csv")}
        return str(_fine(await self._client.post("/api/jobs", files=files)).json()["jobId"])

    async def _until_done(self, job: str) -> None:
        while (await self._ask("GET", f"/api/jobs/{job}")).json()["state"] != "done":
            await asyncio.sleep(0.1)

    async def _preview(self) -> None:
        files = {"file": ("goods.csv", GOODS, "text/csv")}
        _fine(await self._client.post("/api/jobs/preview", files=files))


def _fine(answer: httpx2.Response) -> httpx2.Response:
    if answer.status_code >= 400:
        raise AssertionError(f"{answer.status_code} {answer.text[:200]}")
    return answer


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


async def measured(innocent: Innocent, seconds: float) -> Timed:
    timed: Timed = {}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        await innocent.once(timed)
    return timed


@asynccontextmanager
async def besieged(spec: dict[str, Any]) -> AsyncIterator[subprocess.Popen[str]]:
    path = os.pathsep.join([str(_ROOT / "src"), str(_ROOT)])
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.hostile.attackers", json.dumps(spec)],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path},
        start_new_session=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def _hostile_org(house: House, client: httpx2.AsyncClient) -> dict[str, Any]:
    """Ten members and a viewer, a job of 20,000 rows to export again and again, and 200 products
    with pictures at a server of the attackers'."""
    keys = []
    async with house.database() as conn:
        org = await accounts.ensure_org(conn, "hostile", "standard")
        for number in range(10):
            user = await accounts.ensure_user(conn, org.id, f"m{number}@hostile", "member")
            keys.append(await accounts.create_key(conn, org.id, user.id))
        await conn.execute("UPDATE orgs SET shared_jobs = true WHERE id = $1", org.id)
        viewer = await accounts.ensure_user(conn, org.id, "viewer@hostile", "viewer")
        viewer_key = await accounts.create_key(conn, org.id, viewer.id)
    content = b"sku,title,price\n" + b"".join(
        b"%d,Thing number %d,%d\n" % (n, n, n) for n in range(20_000)
    )
    headers = {"Authorization": f"Bearer {keys[0]}"}
    job = await _imported(client, headers, "much.csv", content)
    port = free_port()
    products = await _products_with_pictures(client, headers, port)
    return {
        "url": house.url, "keys": keys, "viewer": viewer_key, "job": job, "products": products,
        "files_port": port,
    }  # fmt: skip


async def _products_with_pictures(
    client: httpx2.AsyncClient, headers: dict[str, str], port: int
) -> list[str]:
    content = b"sku,title,image\n" + b"".join(
        b"P-%d,Pictured %d,http://127.0.0.1:%d/%d.png\n" % (n, n, port, n) for n in range(200)
    )
    job = await _imported(client, headers, "pictured.csv", content)
    query = {"jobId": job, "pageSize": "200"}
    page = _fine(await client.get("/api/products", params=query, headers=headers)).json()
    products = [product["id"] for product in page["items"]]
    assert len(products) == 200
    return products


async def _imported(
    client: httpx2.AsyncClient, headers: dict[str, str], name: str, content: bytes
) -> str:
    files, data = {"file": (name, content, "text/csv")}, {"config": '{"intent": "merge"}'}
    made = await client.post("/api/jobs", files=files, data=data, headers=headers)
    job = _fine(made).json()["jobId"]
    while (await client.get(f"/api/jobs/{job}", headers=headers)).json()["state"] != "done":
        await asyncio.sleep(0.2)
    return str(job)


def _resident(pid: int) -> int:
    family = [psutil.Process(pid)]
    return max(int(one.memory_info().rss) for one in family)


@pytest.mark.long
@pytest.mark.timeout(600)
async def test_an_innocent_org_hardly_notices_a_hostile_one(house: House) -> None:
    key = house.keys["member"]
    assert house.api is not None
    async with httpx2.AsyncClient(
        base_url=house.url, headers={"Authorization": f"Bearer {key}"}, timeout=60
    ) as client:
        spec = await _hostile_org(house, client)
        innocent = Innocent(client)
        await measured(innocent, 3)
        quiet = await measured(innocent, _QUIET_SECONDS)
        assert not innocent.failed
        peak = 0
        async with besieged(spec | {"seconds": SECONDS}) as attackers, house.database() as conn:
            await asyncio.sleep(2)
            assert house.worker is not None
            pids = {"API": house.api.pid, "worker": house.worker.pid, "attackers": attackers.pid}
            processor = ProcessorTime(pids, conn)
            async with processor.measured():
                loud = await measured(innocent, SECONDS - 3)
            peak = max(peak, _resident(house.api.pid))
            out = await asyncio.to_thread(lambda: attackers.communicate(timeout=120)[0])
        await asyncio.sleep(8)
        after = await measured(innocent, 10)
        resident = _resident(house.api.pid)
    seen = json.loads(out)
    for name, counts in seen.items():
        print(f"{name:15} {counts}")
    print(f"{'':8} {'quiet':>8} {'siege':>8} {'after':>8} {'ratio':>6}   p95 in ms")
    ratios = {}
    for name in quiet:
        ratios[name] = p95(loud[name]) / p95(quiet[name])
        print(
            f"{name:8} {p95(quiet[name]):8.1f} {p95(loud[name]):8.1f} {p95(after[name]):8.1f}"
            f" {ratios[name]:6.2f}   n = {len(quiet[name])}, {len(loud[name])}"
        )
    for group, share in processor.used().items():
        print(f"{share:6.2f} processors: {group}")
    print(f"API: {peak / 2**20:.0f} MB under siege, {resident / 2**20:.0f} MB after")
    assert innocent.failed == []
    broken = {
        f"{name} {status}"
        for name, counts in seen.items()
        for status in counts
        if status.startswith("5") and status not in ("503", "504", "507")
    }
    assert broken == set()
    assert {name: round(ratio, 2) for name, ratio in ratios.items() if ratio > 3} == {}
    assert max(peak, resident) < _MOST_RESIDENT
    assert all(p95(after[name]) < 2 * p95(quiet[name]) for name in quiet)
