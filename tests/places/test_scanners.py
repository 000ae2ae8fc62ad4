"""Two leaders and three scanners over places whose files are written slowly. Processes are killed
again and again: each file becomes one job, and none is half read."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
import random
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from uuid import UUID

import pytest
from tests.fixtures import Bench
from tests.places.servers import KEYS, USER, ftp_server, s3_server, sftp_server
from tests.warm import WarmProcess, start_process

from penstock.app.watchers import watchers
from penstock.app.watchers.watchers import WatcherOrder
from penstock.engine.runtime import Runtime
from penstock.model.places.ports import PlaceAddress, PlaceKind
from penstock.settings import Settings
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Database
from penstock.store.watchers.watchers import WatcherTask

_ROOT = Path(__file__).resolve().parents[2]
_ROLES = ("leader", "leader", "scanner", "scanner", "scanner")
_POINTS = ("watch_after_claim", "watch_before_commit", "watch_after_submit")
_KINDS = ("folder", "ftp", "sftp", "s3")


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    (tmp_path / "served").mkdir()
    return settings.model_copy(
        update={
            "watch_roots": (str(tmp_path / "served"),), "watch_allow": "127.0.0.1",
            "watch_settle_ms": 1000, "watch_every_seconds": 1, "watch_scans_at_once": 4,
        }
    )  # fmt: skip


class Processes:
    """Keeps five processes running: one that died is replaced, perhaps to die elsewhere."""

    def __init__(self, settings: Settings, dsn: str, folder: Path, ids: list[UUID]) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
        names = {*settings.model_fields_set, *_CHANGED}
        told = {f"PENSTOCK_{name.upper()}": _text(getattr(settings, name)) for name in names}
        self._env = {**kept, **told, "PENSTOCK_TEST_OWNER_DSN": dsn, "PENSTOCK_ALLOW_CRASH": "1"}
        self._folder, self._ids = folder, [str(one) for one in ids]
        self._points = itertools.cycle((*(f"{one}:kill:2" for one in _POINTS), ""))
        self._running: list[WarmProcess] = []
        self.kills = 0

    def start(self) -> None:
        self._running = [self._started(role) for role in _ROLES]

    def _started(self, role: str) -> WarmProcess:
        env = {**self._env, "PENSTOCK_FAILPOINT": next(self._points)}
        with (self._folder / f"{role}.log").open("ab") as log:
            return start_process(
                "tests.places.scanner_main", role, *self._ids, env=env, cwd=_ROOT, log=log
            )

    async def harass(self, seconds: float) -> None:
        """Kill one now and then, and replace those that died."""
        while True:
            await asyncio.sleep(seconds)
            random.choice(self._running).kill()
            for place, process in enumerate(self._running):
                if process.poll() is not None:
                    self.kills += 1
                    self._running[place] = self._started(_ROLES[place])

    def end(self) -> None:
        for process in self._running:
            process.kill()
            process.wait()


_CHANGED = ("watch_roots", "watch_allow", "watch_settle_ms", "watch_every_seconds")


def _text(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


@asynccontextmanager
async def served(
    kinds: tuple[str, ...], root: Path
) -> AsyncIterator[dict[str, tuple[str, dict[str, str]]]]:
    """Address and credentials of a place of each kind, on a real server."""
    async with AsyncExitStack() as stack:
        found: dict[str, tuple[str, dict[str, str]]] = {}
        for kind in kinds:
            (root / kind).mkdir()
            if kind == "folder":
                found[kind] = (str(root / kind), {})
            elif kind == "ftp":
                port = stack.enter_context(ftp_server(root / kind))
                found[kind] = (f"ftp://127.0.0.1:{port}/", USER)
            elif kind == "sftp":
                port = await stack.enter_async_context(sftp_server(root / kind))
                found[kind] = (f"sftp://127.0.0.1:{port}/", USER)
            else:
                endpoint = stack.enter_context(s3_server())
                found[kind] = (f"s3://goods/in?endpoint={endpoint}", KEYS)
        yield found


async def write(runtime: Runtime, kind: str, place: PlaceAddress, folder: Path, name: str) -> str:
    """Write a file slowly; returns the hash of its content."""
    lines = [b"sku,title\n", *(b"%s-%d,Hammer\n" % (name.encode(), n) for n in range(200))]
    content = b"".join(lines)
    if kind == "s3":
        async with runtime.places.open(place) as opened:
            await opened.put(name, _pieces(lines))
    else:
        with (folder / name).open("wb") as file:
            for at in range(0, len(content), len(content) // 4):
                file.write(content[at : at + len(content) // 4])
                file.flush()
                await asyncio.sleep(random.uniform(0.05, 0.3))
    return hashlib.sha256(content).hexdigest()


async def _pieces(lines: list[bytes]) -> AsyncIterator[bytes]:
    for line in lines:
        yield line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kinds", "each", "at_once"),
    [
        (("folder",), 12, 8),
        pytest.param(_KINDS, 125, 8, marks=[pytest.mark.long, pytest.mark.timeout(900)]),
    ],
)
async def test_each_file_becomes_one_job(
    bench: Bench, settings: Settings, owner_dsn: str, db: Database, tmp_path: Path,
    kinds: tuple[str, ...], each: int, at_once: int,
) -> None:  # fmt: skip
    runtime, root = bench.runtime, tmp_path / "served"
    expected: dict[tuple[str, str], str] = {}
    began = time.monotonic()
    async with served(kinds, root) as places:
        ids, addresses = {}, {}
        for kind, (address, credentials) in places.items():
            job = {"pipeline": "extraction", "config": {}}
            task = WatcherTask(kind, "*.csv", "move", "unchanged", job, True, 1)
            order = WatcherOrder(kind, address, credentials, task)
            caller = Caller(bench.who)
            checked = await watchers.check_order(runtime, caller, order)
            async with db.transaction() as conn:
                ids[kind] = (await watchers.create(runtime, conn, caller, checked)).id
            addresses[kind] = PlaceAddress(PlaceKind(kind), address, "acme", credentials)
        if "s3" in kinds:
            async with runtime.places.open(addresses["s3"]) as opened:
                await opened._requests.send("PUT", "")  # type: ignore[attr-defined]
        processes = Processes(settings, owner_dsn, tmp_path, list(ids.values()))
        processes.start()
        harassing = asyncio.create_task(processes.harass(1.0 if each < 100 else 4.0))
        try:
            gate = asyncio.Semaphore(at_once)

            async def arrive(kind: str, number: int) -> None:
                async with gate:
                    name = f"{kind}-{number:03}.csv"
                    expected[kind, name] = await write(
                        runtime, kind, addresses[kind], root / kind, name
                    )

            await asyncio.gather(*(arrive(kind, n) for n in range(each) for kind in kinds))
            await _until_moved(db, len(kinds) * each)
        finally:
            harassing.cancel()
            processes.end()
        for kind in kinds:
            async with runtime.places.open(addresses[kind]) as opened:
                assert (await opened.list()).files == []
    await _check(db, ids, expected)
    taken = time.monotonic() - began
    print(f"{len(expected)} files, {processes.kills} processes killed, {taken:.0f} s")
    assert processes.kills > 0


async def _until_moved(db: Database, files: int) -> None:
    deadline = time.monotonic() + 120
    done = 0
    while done < files:
        if time.monotonic() > deadline:
            async with db.acquire() as conn:
                left = await conn.fetch("SELECT * FROM watched_files WHERE NOT finished")
            pytest.fail(f"{done} of {files} files were taken; left: {[dict(row) for row in left]}")
        await asyncio.sleep(0.2)
        async with db.acquire() as conn:
            done = await conn.fetchval("SELECT count(*) FROM watched_files WHERE finished")


async def _check(db: Database, ids: dict[str, UUID], expected: dict[tuple[str, str], str]) -> None:
    """One job and one file for each, with the whole content."""
    async with db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT w.watcher_id, w.name, f.sha256 FROM watched_files w"
            " JOIN jobs j ON j.id = w.job_id JOIN files f ON f.id = j.file_id"
        )
        jobs = await conn.fetchval("SELECT count(*) FROM jobs")
        states = await conn.fetch("SELECT DISTINCT state FROM watched_files")
    kinds = {watcher_id: kind for kind, watcher_id in ids.items()}
    found = {(kinds[row["watcher_id"]], row["name"]): row["sha256"] for row in rows}
    assert found == expected
    assert jobs == len(rows) == len(expected)
    assert [row["state"] for row in states] == ["submitted"]
