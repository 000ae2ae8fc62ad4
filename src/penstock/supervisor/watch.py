"""Restarts child processes and PostgreSQL with backoff, and prints a line per event."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import IO

import asyncpg

from penstock.supervisor.children import Child
from penstock.supervisor.errors import SupervisorError
from penstock.supervisor.postgres import EmbeddedPostgres

Say = Callable[[str], None]
_POLL_S = 0.05
_STOP_NOW_S = 5.0


class Backoff:
    """Doubles from 0.2 s to 10 s; after a minute without a restart it begins again."""

    def __init__(self, first_s: float = 0.2, most_s: float = 10.0, steady_s: float = 60.0) -> None:
        self._first_s, self._most_s, self._steady_s = first_s, most_s, steady_s
        self._next_s = first_s

    def after(self, ran_s: float) -> float:
        if ran_s >= self._steady_s:
            self._next_s = self._first_s
        pause, self._next_s = self._next_s, min(self._next_s * 2, self._most_s)
        return pause


class KeptChild:
    """A command that is started again whenever it ends."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        output: IO[bytes] | None = None,
    ) -> None:
        self.name = name
        self.ends = 0
        self._argv, self._env, self._output = argv, env, output
        self._child: Child | None = None

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child and self._child.poll() is None else None

    async def keep_running(self, say: Say) -> None:
        backoff = Backoff()
        while True:
            began = monotonic()
            ended = await self._run_once()
            self.ends += 1
            pause = backoff.after(monotonic() - began)
            say(f"{self.name} {ended}; starting it again in {pause:.1f} s")
            await asyncio.sleep(pause)

    async def _run_once(self) -> str:
        try:
            child = Child(self._argv, env=self._env, output=self._output)
        except OSError as error:
            return f"could not be started ({error})"
        self._child = child
        while (code := child.poll()) is None:
            await asyncio.sleep(_POLL_S)
        return how_it_ended(code)

    def terminate(self) -> None:
        if self.pid is not None and self._child:
            self._child.terminate()

    def kill(self) -> None:
        if self.pid is not None and self._child:
            self._child.kill()


async def keep_postgres(server: EmbeddedPostgres, say: Say) -> None:
    """Restart it whenever it ends, with growing pauses. A failed start is reported and retried,
    since a full disk or a bad setting may be corrected."""
    backoff = Backoff()
    began = monotonic()
    while True:
        while (code := server.poll()) is None:
            await asyncio.sleep(_POLL_S)
        pause = backoff.after(monotonic() - began)
        say(f"PostgreSQL {how_it_ended(code)}; starting it again in {pause:.1f} s")
        await asyncio.sleep(pause)
        await _start_again(server, backoff, say)
        began = monotonic()


async def _start_again(server: EmbeddedPostgres, backoff: Backoff, say: Say) -> None:
    began, reason = monotonic(), ""
    while True:
        try:
            await server.start()
        except (SupervisorError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            pause = backoff.after(0)
            # Times and process ids change, the reason does not: it is printed once.
            was, reason = reason, re.sub(r"\d+", "", str(error))
            say("PostgreSQL still does not start, as before" if reason == was else str(error))
            say(f"Trying again in {pause:.1f} s")
            await asyncio.sleep(pause)
        else:
            say(f"PostgreSQL is ready again ({monotonic() - began:.1f} s)")
            return


async def stop_all(
    children: Sequence[KeptChild], stop_now: asyncio.Event, patience_s: float, say: Say
) -> None:
    """Send SIGTERM; again once ``stop_now`` is set, so that workers release their leases; SIGKILL
    to those that do not stop in time."""
    for child in children:
        child.terminate()
    deadline = monotonic() + patience_s
    was_repeated = False
    while alive := [child for child in children if child.pid is not None]:
        if stop_now.is_set() and not was_repeated:
            was_repeated = True
            for child in alive:
                child.terminate()
            deadline = min(deadline, monotonic() + _STOP_NOW_S)
        if monotonic() > deadline:
            for child in alive:
                say(f"{child.name} did not stop in time and is killed")
                child.kill()
            deadline = monotonic() + patience_s
        await asyncio.sleep(_POLL_S)


def how_it_ended(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
