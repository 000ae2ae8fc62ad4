"""Imports of shops: thumbnails beside plain Pillow, shared limits, and what a call costs."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.entry import Entry, Line, Scale, at_least, at_most, reported, share_of
from benchmarks.lab import Bench, Lab
from benchmarks.measure import timed
from penstock.formats.pictures import shrink_file
from penstock.guards.call_limits import CallLimiter
from penstock.guards.children import ChildPool
from penstock.guards.shared_limits import SharedGate
from penstock.logs import get_logger
from penstock.model.errors import Waiting
from penstock.model.ids import new_id
from penstock.model.network.call_limits import CallBounds
from penstock.model.network.provider_limits import LimitKey, ProviderLimits
from penstock.model.network.token_bucket import Rate
from penstock.model.ports import InputFile
from penstock.providers.registry import PROVIDERS
from penstock.providers.sandbox.pictures import picture
from penstock.providers.sandbox.server import CREDENTIALS, Sandbox
from penstock.store.database import Database
from penstock.store.providers.states import StoredLimits
from penstock.store.shops import connections

BOXES = [800, 400, 150]
_CHILDREN = 2
_CALLERS = 24
_WORKERS = 8


def plain_pillow(path: str) -> int:
    """What a script would do: open, shrink, save, three times."""
    from PIL import Image

    size = 0
    with Image.open(path) as image:
        for box in BOXES:
            small, out = image.copy(), io.BytesIO()
            small.thumbnail((box, box))
            small.save(out, "WEBP")
            size += out.tell()
    return size


async def thumbnails(lab: Lab, count: int) -> tuple[float, float]:
    """Thumbnails per second: in the children of a worker, and in processes of a plain script."""
    folder = lab.folder / "pictures"
    folder.mkdir(exist_ok=True)
    paths = []
    for number in range(count):
        path = folder / f"{number}.jpg"
        path.write_bytes(picture(1, f"bench/{number}.jpg"))
        paths.append(path)
    pool = ChildPool(1024**3, 600, calls=_CHILDREN, folder=lab.folder / "children")
    try:
        await asyncio.gather(*(_shrunk(pool, paths[0]) for _ in range(_CHILDREN)))
        async with timed() as ours:
            await asyncio.gather(*(_shrunk(pool, path) for path in paths))
    finally:
        await pool.close()
    loop = asyncio.get_running_loop()
    with ProcessPoolExecutor(_CHILDREN) as processes:
        first = [loop.run_in_executor(processes, plain_pillow, str(paths[0])) for _ in range(4)]
        await asyncio.gather(*first)
        async with timed() as plain:
            work = [loop.run_in_executor(processes, plain_pillow, str(path)) for path in paths]
            await asyncio.gather(*work)
    made = count * len(BOXES)
    return made / ours.seconds, made / plain.seconds


async def _shrunk(pool: ChildPool, path: Path) -> None:
    await pool.call(shrink_file, InputFile(path), BOXES)


async def bucket(lab: Lab, rate: Rate, seconds: float) -> tuple[float, float]:
    """Calls that workers got, as a share of what the limit allows; and by how much they exceeded
    the burst at most."""
    async with lab.bench() as bench, AsyncExitStack() as stack:
        limits = ProviderLimits(default=rate)
        limiters = []
        for _ in range(_WORKERS):
            schema = bench.runtime.settings.database_schema
            db = await Database(lab.dsn, schema, size=2).open()
            stack.push_async_callback(db.close)
            gate = SharedGate(StoredLimits(db, limits), get_logger())
            limiter = CallLimiter(CallBounds(start=8), gate)
            stack.push_async_callback(limiter.close)
            limiters.append(limiter)
        key = LimitKey(bench.who.org_id, "bench")
        calls: list[float] = []
        began = time.monotonic()
        callers = (
            _insist(limiters[n % _WORKERS], key, calls, began + seconds) for n in range(_CALLERS)
        )
        await asyncio.gather(*callers)
    return len(calls) / (rate.burst + rate.per_second * seconds), _excess(calls, rate)


async def _insist(limiter: CallLimiter, key: LimitKey, calls: list[float], until: float) -> None:
    while (now := time.monotonic()) < until:
        try:
            async with limiter.call(
                key.provider, "", until=until, time_is_up=lambda: False, key=key
            ):
                calls.append(time.monotonic())
        except Waiting as told:
            wait = (told.retry_after_ms or 0) / 1000
            await asyncio.sleep(min(wait, max(0.0, until - now)))


def _excess(calls: Sequence[float], rate: Rate) -> float:
    """How far the provider's own bucket would have been overdrawn."""
    level, at, worst = rate.burst, calls[0], 0.0
    for call in sorted(calls):
        level = min(rate.burst, level + (call - at) * rate.per_second) - 1
        at, worst = call, max(worst, -level)
    return worst


async def calls(lab: Lab, items: int, *, limited: bool) -> float:
    """Items per second of a pipeline that works item by item, with and without calls."""
    config: dict[str, Any] = {"items": items, "concurrency": 50, "failEvery": 10**9}
    if limited:
        config |= {"provider": "bench", "company": "bench"}
    async with lab.bench(limits=("bench=1000000/s burst 1000000",), calls_max=1000) as bench:
        job_id = await bench.submit("noop", config)
        await bench.ingest(job_id)
        await bench.execute("UPDATE jobs SET paused = true WHERE id = $1", job_id)
        async with bench.workers(2):
            await lab.checkpoint()
            async with timed() as clock:
                await bench.resume(job_id)
                await bench.until_done(job_id)
    return items / clock.seconds


async def whole_import(lab: Lab, products: int) -> tuple[float, float]:
    """Products and pictures per second of one import from the sandbox, with two workers."""
    shops = Sandbox(products)
    await shops.start()
    generous = ("shopify=10000/s burst 10000",)
    try:
        async with lab.bench(provider_allow="127.0.0.1", limits=generous) as bench:
            connection = await _connect(bench, shops)
            asked = {"connectionId": str(connection), "provider": "shopify", "all": True}
            async with bench.workers(2), timed() as clock:
                job_id = await bench.submit("shop_import", asked)
                await bench.until_done(job_id)
            async with bench.db.acquire() as conn:
                pictures = await conn.fetchval("SELECT count(*) FROM pictures")
    finally:
        await shops.close()
    return products / clock.seconds, int(pictures) / clock.seconds


async def _connect(bench: Bench, shops: Sandbox) -> UUID:
    shop, connection = shops.shop("shopify"), new_id()
    provider = next(one for one in PROVIDERS if one.key == "shopify")
    sealer = bench.runtime.sealer
    sealed = connections.credentials.seal(sealer, connection, CREDENTIALS["shopify"](shop))
    async with bench.db.transaction() as conn:
        await connections.add_connection(
            conn,
            connections.NewConnection(
                connection, bench.who.org_id, bench.who.user_id, "shopify", "bench",
                provider.normalize_address(shop.base), sealed,
            ),
        )  # fmt: skip
    return connection


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    shrunk: tuple[list[float], list[float]] = ([], [])
    cost: tuple[list[float], list[float]] = ([], [])
    imported: tuple[list[float], list[float]] = ([], [])
    for _ in range(scale.repetitions):
        for place, value in enumerate(await thumbnails(lab, scale.of(600, 60))):
            shrunk[place].append(value)
        cost[0].append(await calls(lab, scale.of(50_000, 5000), limited=True))
        cost[1].append(await calls(lab, scale.of(50_000, 5000), limited=False))
        # More than 250 products are read by one bulk operation, which the cost bucket hardly feels.
        for place, value in enumerate(await whole_import(lab, scale.of(500, 260))):
            imported[place].append(value)
    share, excess = await bucket(lab, Rate.parse("100/min burst 20"), scale.of(60, 10))
    return [
        share_of("thumbnails in children", "/s", *shrunk, 1.0, "plain Pillow"),
        share_of("items that call a provider", "items/s", *cost, 0.95, "items without a call"),
        at_least("8 workers, 100/min burst 20: share of the limit", "", [share], 0.98),
        at_most("… calls beyond the burst", "calls", [excess], 0),
        reported("one import, 2 workers: products", "/s", imported[0]),
        reported("… pictures with three thumbnails each", "/s", imported[1]),
    ]


ENTRY = Entry(
    "shops", run, "Imports of shops", "Thumbnails in three sizes as WebP, in the sandboxed children"
    " of a worker, beside a script that opens, shrinks and saves with Pillow in as many processes."
    " The cost of a call with shared limits, as items per second. A token bucket that eight workers"
    " share, for a minute. One import of the sandbox's shop, without its rate limit.",
)  # fmt: skip
