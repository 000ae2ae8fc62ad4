"""A worker as a process: it ends when told to, or with who started it."""

from __future__ import annotations

from penstock import wiring
from penstock.cli.process import begin_process, on_stop
from penstock.cli.session import opened
from penstock.engine.worker import Worker
from penstock.settings import Settings
from penstock.store.claims import Served


async def serve_worker(settings: Settings, served: Served) -> None:
    begin_process(settings)
    async with (
        opened(settings) as session,
        wiring.engine_parts(settings, session.addresses.owner_dsn, name="worker") as parts,
        Worker(parts, served) as worker,
    ):
        on_stop(worker.stop)
        parts.log.info("worker serves", worker=worker.id, slots=settings.worker_slots)
        await worker.run()
        parts.log.info("worker stops", worker=worker.id)
