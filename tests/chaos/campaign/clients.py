"""Orgs that submit all the time, and operators that change their minds."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from tests.chaos.campaign.shapes import Shape, as_csv, shape
from tests.chaos.chaos_bench import ChaosBench
from tests.checker.case import Submitted

from penstock.app import bulk
from penstock.app.uploads import Upload, keep_upload
from penstock.engine import ending
from penstock.engine.settle import TRANSIENT_DB_ERRORS
from penstock.engine.submit import Order, submit
from penstock.model.errors import PenstockError
from penstock.model.ids import new_id
from penstock.model.reprocess import Selection
from penstock.model.ticket import Ticket
from penstock.store.accounts.accounts import Principal
from penstock.store.database import CONNECTION_ERRORS
from penstock.store.jobs import jobs

_LIVE = "SELECT count(*) FROM jobs WHERE org_id = $1 AND finished_at IS NULL"
_SOME_JOB = """
    SELECT id, org_id, state, paused FROM jobs WHERE ($1 OR finished_at IS NULL)
    ORDER BY md5(id::text || $2) LIMIT 1
"""
_MOST_PAUSED_SECONDS = 3.0


async def _bytes(content: bytes) -> AsyncIterator[bytes]:
    yield content


@dataclass
class Clients:
    """All of them, until they are told to stop."""

    chaos_bench: ChaosBench
    orgs: Sequence[Principal]
    seed: int
    live_jobs: int
    stopped: bool = False
    submitted: Counter[str] = field(default_factory=Counter)
    # Asked again with the same key, because no answer came.
    unsure: int = 0
    control: Counter[str] = field(default_factory=Counter)

    async def send(self, who: Principal, wanted: Shape) -> UUID:
        """Until it is known to be accepted: as often as it takes, with one key."""
        key = f"campaign {new_id()}"
        upload = await self._upload(wanted) if wanted.file else None
        while True:
            try:
                job_id = await self._submit(who, wanted, key, upload)
            except TRANSIENT_DB_ERRORS:
                self.unsure += 1
                await asyncio.sleep(0.1)
                continue
            self.submitted[wanted.name] += 1
            inputs = None if wanted.file else [{"row": n} for n in range(wanted.items)]
            self.chaos_bench.sent[job_id] = Submitted(wanted.items, inputs, key=key)
            return job_id

    async def _upload(self, wanted: Shape) -> Upload:
        blobs = self.chaos_bench.runtime.blobs
        content = as_csv(wanted.items)
        blob = await blobs.put(_bytes(content), len(content))
        return Upload(new_id(), "list.csv", "text/csv", blob)

    async def _submit(self, who: Principal, wanted: Shape, key: str, upload: Upload | None) -> UUID:
        runtime = self.chaos_bench.runtime
        config = {} if wanted.file else {"items": wanted.items, **wanted.config}
        order = Order(
            "extraction" if wanted.file else "noop", config, idempotency_key=key,
            file_id=None if upload is None else upload.id,
            content_sha256="" if upload is None else upload.blob.sha256,
        )  # fmt: skip
        async with runtime.db.transaction() as conn:
            if upload is not None and await jobs.get_file(conn, upload.id) is None:
                await keep_upload(runtime, conn, who, upload)
            receipt = await submit(runtime, conn, who, order)
        if not receipt.replayed:
            await runtime.broker.send(Ticket(receipt.lane))
        return receipt.job_id

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for who in self.orgs:
                group.create_task(self._submit_for(who))
            group.create_task(self._operate())

    async def _submit_for(self, who: Principal) -> None:
        chance = random.Random(f"{who.org} {self.seed}")
        while not self.stopped:
            live = await self.chaos_bench.value_or_none(_LIVE, who.org_id)
            if live is None or live >= self.live_jobs:
                await asyncio.sleep(0.2)
            else:
                await self.send(who, shape(chance, poison=who.plan == "enterprise"))

    async def _operate(self) -> None:
        chance = random.Random(f"operators {self.seed}")
        verbs = {"pause": 3, "cancel": 1, "priority": 3, "reprocess": 2}
        async with asyncio.TaskGroup() as resuming:
            while not self.stopped:
                await asyncio.sleep(chance.uniform(0.2, 1.0))
                verb = chance.choices(list(verbs), list(verbs.values()))[0]
                paused = await self._change(verb, chance)
                if paused is not None:
                    wait = chance.uniform(0.2, _MOST_PAUSED_SECONDS)
                    resuming.create_task(self._resume(paused, wait))

    async def _change(self, verb: str, chance: random.Random) -> UUID | None:
        """One change of one job; answers the job if it is paused now."""
        runtime, row = self.chaos_bench.runtime, None
        try:
            async with runtime.db.transaction() as conn:
                ended = verb == "reprocess"
                row = await conn.fetchrow(_SOME_JOB, ended, str(chance.random()))
                if row is None or (ended and row["state"] not in {"done", "failed", "cancelled"}):
                    return None
                who = next(one for one in self.orgs if one.org_id == row["org_id"])
                lane = await self._apply(conn, verb, who, row["id"], chance)
        except (*CONNECTION_ERRORS, *TRANSIENT_DB_ERRORS, PenstockError) as error:
            self.control[f"{verb}: {type(error).__name__}"] += 1
            # A pause whose answer was lost must end as well.
            return row["id"] if verb == "pause" and row is not None else None
        if lane is None:
            return None
        self.control[verb] += 1
        await runtime.broker.send(Ticket(lane))
        return UUID(str(row["id"])) if verb == "pause" else None

    async def _apply(
        self, conn: Any, verb: str, who: Principal, job_id: UUID, chance: random.Random
    ) -> str | None:
        match verb:
            case "pause":
                return await jobs.pause(conn, job_id)
            case "cancel":
                return await ending.cancel(conn, job_id)
            case "priority":
                # Never lower: a job that is always overtaken is not claimed again, whatever failed
                # before.
                return await jobs.set_priority(conn, job_id, chance.randint(6, 100))
            case _:
                selection = Selection(from_start=chance.random() < 0.3)
                runtime = self.chaos_bench.runtime
                return (await bulk.reprocess_job(runtime, conn, who, job_id, selection)).lane

    async def _resume(self, job_id: UUID, after: float) -> None:
        await asyncio.sleep(after)
        while True:
            try:
                async with self.chaos_bench.runtime.db.transaction() as conn:
                    lane = await jobs.resume(conn, job_id)
            except TRANSIENT_DB_ERRORS:
                await asyncio.sleep(0.2)
                continue
            if lane is not None:
                self.control["resume"] += 1
                await self.chaos_bench.runtime.broker.send(Ticket(lane))
            return
