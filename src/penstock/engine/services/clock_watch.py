"""Detects that the database's clock, which leases, retries and claims use, was set back."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.engine.runtime import Runtime
from penstock.settings import Settings
from penstock.store.workers import clock, workers

# Smaller steps are normal corrections by time servers.
_TOLERATED_MS = 2000


@dataclass(frozen=True, slots=True)
class ClockConfig:
    every_ms: int
    longest_lease_ms: int

    @classmethod
    def of(cls, settings: Settings) -> ClockConfig:
        return cls(settings.sweep_ms, settings.lock_cap_ms)


class ClockWatch:
    """A clock set forward ends leases early, so that work is done twice. A clock set back would
    keep jobs waiting, and leases of dead workers alive, for as long as it was set back."""

    name = "clock watch"

    def __init__(self, runtime: Runtime, config: ClockConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or ClockConfig.of(runtime.settings)
        self.every_ms = self._config.every_ms

    async def run_once(self) -> float:
        """Answers by how many milliseconds the clock was set back."""
        async with self._runtime.db.transaction() as conn:
            back_ms = await clock.behind_ms(conn)
            is_back = back_ms > _TOLERATED_MS
            if is_back:
                await clock.repair(conn, back_ms, self._config.longest_lease_ms)
                data = {"setBackMs": round(back_ms)}
                await workers.add_system_event(conn, "clock.set_back", None, data)
            await clock.note(conn)
        if not is_back:
            return 0.0
        self._runtime.log.warning("the database's clock was set back", ms=round(back_ms))
        return back_ms
