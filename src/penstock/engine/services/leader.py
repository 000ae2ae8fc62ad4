"""Leader election: the process whose session holds an advisory lock runs the services.

The lock alone is not enough: a stopped process, or one behind a broken network, keeps its session
and does nothing. So the leader also writes a heartbeat. Candidates end the session of a leader that
has been silent for too long and take over. The old leader checks its own clock before it acts
again. If two processes lead for a moment nothing is lost: services lock or delete what they work
on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

from penstock.engine.runtime import Runtime
from penstock.engine.services.service import run_service
from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.model.cancellation import is_cancelled
from penstock.model.ports import Service
from penstock.store.database import Connection
from penstock.store.workers import leaders

_NAME = "services"
_BEAT_SECONDS = 1.0
_STALE_SECONDS = 5.0
# A leader stops by its own clock before a candidate may take over.
_CERTAIN_SECONDS = 4.0


class Leader:
    """A candidate for leadership, which runs the services while it leads."""

    def __init__(
        self,
        runtime: Runtime,
        who: str,
        services: Sequence[Service] | None = None,
    ) -> None:
        self._runtime = runtime
        self._who = who
        self._services = runtime.services(runtime) if services is None else services
        self._sure_until = 0.0

    @property
    def leads(self) -> bool:
        """Whether no other process can have taken over."""
        return time.monotonic() < self._sure_until

    async def run(self) -> None:
        """Until cancelled: check for a leader, and try to lead if there is none."""
        while not is_cancelled():
            try:
                if not await self._has_leader():
                    await self._try_to_lead()
            except TRANSIENT_DB_ERRORS as error:
                self._runtime.log.debug("cannot read who the leader is", error=repr(error))
            except Exception as error:
                self._runtime.log.error("leading failed", error=repr(error), exc_info=True)
            await asyncio.sleep(_BEAT_SECONDS * (0.5 + self._runtime.chance.random()))

    async def _has_leader(self) -> bool:
        """Uses the pool: a candidate needs no session of its own."""
        async with self._runtime.db.acquire() as conn:
            return await leaders.lives(conn, _NAME, _STALE_SECONDS * 1000)

    async def _try_to_lead(self) -> None:
        connection = await self._runtime.db.connect(timeout=_CERTAIN_SECONDS)
        try:
            for gone in await leaders.end_stale(connection, _NAME, _STALE_SECONDS * 1000):
                self._runtime.log.warning("session of a silent leader was ended", worker=gone)
            asked = time.monotonic()
            if await leaders.take(connection, _NAME, self._who):
                self._sure_until = asked + _CERTAIN_SECONDS
                self._runtime.log.info("leads the services", worker=self._who)
                await self._lead(connection)
        finally:
            self._sure_until = 0.0
            # Terminated, since closing could hang; the server releases the lock either way.
            connection.terminate()

    async def _lead(self, connection: Connection) -> None:
        running = [
            asyncio.create_task(run_service(self._runtime, service, may_run=lambda: self.leads))
            for service in self._services
        ]
        try:
            await self._beat_while_leading(connection)
        except asyncio.CancelledError:
            await _stop(running)
            # Otherwise the next leader waits until this row is stale.
            with suppress(*TRANSIENT_DB_ERRORS):
                async with asyncio.timeout(1):
                    await leaders.resign(connection, _NAME)
            raise
        finally:
            await _stop(running)
            self._runtime.log.info("no longer leads the services", worker=self._who)

    async def _beat_while_leading(self, connection: Connection) -> None:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            if not self.leads:
                self._runtime.log.warning(
                    "was stopped for too long to remain the leader", worker=self._who
                )
                return
            asked = time.monotonic()
            try:
                async with asyncio.timeout(self._sure_until - asked):
                    still = await leaders.beat(connection, _NAME)
            except TRANSIENT_DB_ERRORS as error:
                self._runtime.log.warning(
                    "lost the lead of the services", worker=self._who, error=repr(error)
                )
                return
            if not still:
                self._runtime.log.warning("another process leads the services", worker=self._who)
                return
            self._sure_until = asked + _CERTAIN_SECONDS


async def _stop(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
