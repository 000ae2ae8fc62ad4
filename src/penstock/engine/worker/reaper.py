"""Takes back the leases of dead workers on this machine at once, before they expire.

Runs in every worker, not only in the leader: only the machine itself knows which of its workers
died.
"""

from __future__ import annotations

from penstock.engine.runtime import Runtime
from penstock.engine.services.sweep import return_all
from penstock.engine.worker.liveness import Liveness
from penstock.store.jobs import slices
from penstock.store.workers import workers


class LocalWorkerReaper:
    name = "reaper"

    def __init__(self, runtime: Runtime, host: str, liveness: Liveness) -> None:
        self._runtime = runtime
        self._host = host
        self._liveness = liveness
        self.every_ms = runtime.settings.sweep_ms

    async def run_once(self) -> list[str]:
        """Answers the dead workers it found."""
        async with self._runtime.db.acquire() as conn:
            candidates = await workers.local_workers(conn, self._host)
        dead = [worker for worker in candidates if self._liveness.is_dead(worker)]
        for worker in dead:
            async with self._runtime.db.acquire() as conn:
                held = await slices.of_worker(conn, worker)
            if not await return_all(self._runtime, held, holder_is_dead=True):
                continue
            async with self._runtime.db.transaction() as conn:
                await workers.stop(conn, worker)
                await workers.add_system_event(
                    conn, "worker.lost", worker, {"reason": "the process died"}
                )
            self._liveness.forget(worker)
        return dead
