"""Broken and harmful files sent to a real server, with an innocent client measured beside them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import psutil
import pytest
from tests.chaos.api_process import ApiProcess
from tests.formats.test_bombs import ARCHIVES, RECORDS, TEXTS
from tests.formats.test_fuzz import MAKERS, mutated

from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.database import Database

KINDS = ("flip", "mark", "insert", "cut", "double", "end")
MUTANTS, MUTANTS_LONG = 2, 100
AT_ONCE = 4
# For a machine that does other things beside; alone it is some milliseconds.
SLOWEST_HEALTH_S = 3.0
MOST_RESIDENT = 700 * 1024 * 1024
MOST_CHILDREN = 12
CSV = b"sku,title,price\n1,Hammer,9.90\n2,Nail,5\n"
# Sheets whose patterns took minutes, and what only takes long over HTTP.
SLOW_HEADS = [
    b"<!---->" * 9000 + b"<x",
    b"INSERT INTO a (\n" * 4000,
    b"COPY " + b"a" * 60_000,
    b"1" * 60_000,
    b" " * 60_000 + b"x",
]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"max_file_bytes": 80 * 1024 * 1024})


@pytest.fixture
async def api_process(
    settings: Settings, owner_dsn: str, db: Database, tmp_path: Path
) -> AsyncIterator[ApiProcess]:
    with ApiProcess(settings, owner_dsn, tmp_path / "api.log") as made:
        await made.start()
        yield made


@dataclass
class Watched:
    """What the innocent client saw."""

    health: list[float] = field(default_factory=list)
    previews: list[int] = field(default_factory=list)


@asynccontextmanager
async def innocent(api_process: ApiProcess, db: Database) -> AsyncIterator[Watched]:
    await api_process.admits(db, "innocent")
    seen, stop = Watched(), asyncio.Event()

    async def ask_health() -> None:
        async with api_process.client() as client:
            while not stop.is_set():
                start = time.monotonic()
                assert (await client.get("/health")).status_code == 200
                seen.health.append(time.monotonic() - start)
                await asyncio.sleep(0.05)

    async def preview() -> None:
        async with api_process.client() as client:
            while not stop.is_set():
                answer = await client.post("/api/jobs/preview", files={"file": ("a.csv", CSV)})
                seen.previews.append(answer.status_code)
                await asyncio.sleep(0.5)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(ask_health())
        tasks.create_task(preview())
        yield seen
        stop.set()


async def attacker(api_process: ApiProcess, db: Database) -> httpx2.AsyncClient:
    async with db.acquire() as conn:
        org = await accounts.ensure_org(conn, "attacker")
        user = await accounts.ensure_user(conn, org.id, "member@attacker", "member")
        key = await accounts.create_key(conn, org.id, user.id)
    client = api_process.client()
    client.headers["Authorization"] = f"Bearer {key}"
    client.timeout = httpx2.Timeout(120)
    return client


async def send(client: httpx2.AsyncClient, name: str, content: bytes) -> None:
    for path in ("/api/jobs/preview", "/api/files"):
        answer = await client.post(path, files={"file": (f"{name}.bin", content)})
        limited = answer.status_code == 503 and "retry-after" in answer.headers
        assert answer.status_code < 500 or limited, (name, path, answer.text[:500])


async def attack(api_process: ApiProcess, db: Database, files: Iterator[tuple[str, bytes]]) -> int:
    """All of the files, several at a time; how many there were."""
    sent = 0

    async def one_after_the_other(client: httpx2.AsyncClient) -> None:
        nonlocal sent
        for name, content in files:
            sent += 1
            await send(client, name, content)

    async with await attacker(api_process, db) as client, asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(one_after_the_other(client))
    return sent


def mutants(folder: Path, times: int) -> Iterator[tuple[str, bytes]]:
    chance = random.Random(20261115)
    for make in MAKERS:
        path = folder / "whole"
        try:
            make(path)
        except pytest.skip.Exception:
            continue
        whole = path.read_bytes()
        for number in range(times):
            changes = [
                (chance.random(), chance.choice(KINDS), chance.randbytes(4), chance.randrange(200))
                for _ in range(chance.randint(1, 12))
            ]
            yield f"{make.__name__}-{number}", mutated(whole, changes)


def bombs(folder: Path, chosen: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    for bomb in (*TEXTS, *RECORDS, *ARCHIVES):
        if chosen(bomb.name):
            bomb.make(folder / "bomb")
            yield bomb.name.replace(" ", "-"), (folder / "bomb").read_bytes()


async def check_unharmed(
    api_process: ApiProcess, db: Database, files: Iterator[tuple[str, bytes]]
) -> None:
    async with innocent(api_process, db) as seen:
        sent = await attack(api_process, db, files)
    assert sent > 0
    assert len(seen.health) > 5
    assert max(seen.health) < SLOWEST_HEALTH_S, sorted(seen.health)[-5:]
    assert set(seen.previews) == {200}, seen.previews
    assert api_process.process is not None
    assert not api_process.dead
    server = psutil.Process(api_process.process.pid)
    assert server.memory_info().rss < MOST_RESIDENT
    assert len(server.children(recursive=True)) <= MOST_CHILDREN
    print(f"{sent} files, /health at most {max(seen.health) * 1000:.0f} ms,"
          f" {len(seen.previews)} previews beside them")  # fmt: skip


async def test_mutants_harm_nobody_else(
    api_process: ApiProcess, db: Database, tmp_path: Path
) -> None:
    await check_unharmed(api_process, db, mutants(tmp_path, MUTANTS))


SMALL = {"NUL", "open quotes in every line", "a riddle for patterns", "100,000 brackets", "laughs",
         "quadratic", "100,000 elements deep", "two far cells", "cells that repeat",
         "files that overlap", "a zip in a zip", "tables in tables"}  # fmt: skip


async def test_bombs_harm_nobody_else(
    api_process: ApiProcess, db: Database, tmp_path: Path
) -> None:
    heads = ((f"head-{number}", head) for number, head in enumerate(SLOW_HEADS))
    await check_unharmed(api_process, db, iter([*heads, *bombs(tmp_path, SMALL.__contains__)]))


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_many_mutants_and_all_bombs(
    api_process: ApiProcess, db: Database, tmp_path: Path
) -> None:
    await check_unharmed(api_process, db, mutants(tmp_path, MUTANTS_LONG))
    await check_unharmed(api_process, db, bombs(tmp_path, lambda name: True))
