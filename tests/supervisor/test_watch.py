"""`keep_postgres`: whatever ends PostgreSQL, it comes back; what keeps it from that is told."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from tests.checker.polling import until

from penstock.supervisor.postgres import EmbeddedPostgres
from penstock.supervisor.watch import keep_postgres


class Kept:
    def __init__(self, server: EmbeddedPostgres) -> None:
        self.server = server
        self.told: list[str] = []

    @property
    def pid(self) -> int:
        assert self.server.pid is not None
        return self.server.pid

    async def tells(self, text: str, times: int = 1) -> None:
        async def told() -> bool:
            return sum(text in line for line in self.told) >= times

        await until(told, f"{text!r} to be told; it was {self.told}", timeout=60)

    async def answers(self) -> int:
        """The process id of a server that answers."""

        async def answered() -> int | None:
            try:
                conn = await asyncpg.connect(self.server.owner_dsn, timeout=2)
            except (OSError, asyncpg.PostgresError):
                return None
            await conn.close()
            return self.server.pid

        return await until(answered, "PostgreSQL to answer", timeout=60) or 0


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncIterator[Kept]:
    async with EmbeddedPostgres(tmp_path / "data") as server:
        kept = Kept(server)
        keeping = asyncio.create_task(keep_postgres(server, kept.told.append))
        yield kept
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGQUIT, signal.SIGINT])
async def test_however_it_ends_it_comes_back(kept: Kept, number: signal.Signals) -> None:
    """Killed, shut down at once, and shut down in order."""
    was = kept.pid
    os.kill(was, number)
    await kept.tells("starting it again")
    await kept.tells("ready again")
    assert await kept.answers() != was


async def test_a_backend_that_dies_takes_only_a_moment(kept: Kept) -> None:
    """The server itself ends all sessions and recovers; nobody has to start it."""
    was = kept.pid
    conn = await asyncpg.connect(kept.server.owner_dsn)
    os.kill(conn.get_server_pid(), signal.SIGKILL)
    conn.terminate()
    assert await kept.answers() == was
    assert kept.told == []


async def test_one_that_was_stopped_goes_on(kept: Kept) -> None:
    was = kept.pid
    os.kill(was, signal.SIGSTOP)
    with pytest.raises((TimeoutError, OSError)):
        await asyncpg.connect(kept.server.owner_dsn, timeout=0.5)
    os.kill(was, signal.SIGCONT)
    assert await kept.answers() == was


async def test_one_that_cannot_start_is_told_of_and_tried_again(kept: Kept) -> None:
    mine = kept.server.cluster / "postgresql.auto.conf"
    mine.write_text("shared_buffers = 'plenty'\n")
    os.kill(kept.pid, signal.SIGKILL)
    await kept.tells("plenty")
    await kept.tells("still does not start, as before", times=2)
    pauses = [float(line.split()[-2]) for line in kept.told if "Trying again" in line]
    assert pauses == sorted(pauses)
    assert len(pauses) >= 2
    mine.write_text("")
    await kept.tells("ready again")
    await kept.answers()
