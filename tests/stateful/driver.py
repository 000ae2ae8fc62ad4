"""The real engine, step by step, for a machine that knows no coroutines."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from tests.checker.case import Submitted
from tests.checker.check import Violation, check
from tests.checker.history import install_history
from tests.checker.scripted import Scripted, scripted_pipelines
from tests.stateful.model import CHILDREN, ERROR_RETRIES, NOT_FOUND_RETRIES, Held

from penstock.app import bulk
from penstock.engine import ending
from penstock.engine.claim import Claim
from penstock.engine.context import StopSign
from penstock.engine.finish import finish
from penstock.engine.ingest import Ingest
from penstock.engine.run import ClaimOutcomes
from penstock.engine.runtime import Runtime
from penstock.engine.services.sweep import Sweeper
from penstock.engine.settle import settle
from penstock.engine.submit import Order, submit
from penstock.engine.worker.loop import Worker
from penstock.model.errors import ItemError
from penstock.model.outcomes import Advance, Child, Done, Fail, NotFound, Outcome, Retry, Skip
from penstock.model.policy import RetryPolicy, RetryRule
from penstock.model.reprocess import Selection
from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Database
from penstock.store.jobs import claims, jobs
from penstock.store.migrate import migrate
from penstock.wiring import open_runtime

T = TypeVar("T")
# Nothing that waits is due before the machine says so.
_NEVER = 24 * 3_600_000
_LATER = RetryRule(ERROR_RETRIES, base_ms=_NEVER, cap_ms=_NEVER)
POLICY = RetryPolicy(
    {"API_TIMEOUT": _LATER}, RetryRule(NOT_FOUND_RETRIES, base_ms=_NEVER, cap_ms=_NEVER)
)
_GRACE_MS = 1500
_NOT_NOW = ItemError("API_TIMEOUT", "not now")
_TABLES = ("jobs, job_stages, slices, job_items, job_errors, events, idempotency_keys,"
           " dead_letters, dead_letter_groups, bulk_operations,"
           " history_items, history_slices, history_jobs")  # fmt: skip


def outcome_of(word: str, row: int, *, last: bool, spawns: bool, is_child: bool) -> Outcome | None:
    match word:
        case "none":
            return None
        case "wait":
            return Retry(_NOT_NOW, after_ms=_NEVER, counted=False)
        case "skip":
            return Skip("no need")
        case "retry":
            return Retry(_NOT_NOW)
        case "not found":
            return NotFound()
        case "fail":
            return Fail(ItemError("VALIDATION_ERROR", "never"))
        case "advance" if not last:
            return Advance({"seen": row})
        case "spawn" if spawns and not is_child:
            return Done({}, spawn=[Child(f"{row}.{n}", {"row": n}) for n in range(CHILDREN)])
        case _:
            return Done({"row": row})


class Driver:
    """A schema of its own; between two examples it is emptied."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self._runner = asyncio.Runner()
        self._stack = AsyncExitStack()
        self._dsn = dsn
        self.settings = Settings(
            data_dir=folder, database_schema=f"t_{secrets.token_hex(6)}", claim_max=3,
            lock_floor_ms=600_000, lock_cap_ms=600_000, worker_slots=20,
        )  # fmt: skip
        self.runtime: Runtime
        self.orgs: list[Principal] = []
        self._scripts: Mapping[str, Scripted] = scripted_pipelines()
        for script in self._scripts.values():
            script.policy = POLICY

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    async def open(self) -> None:
        schema = self.settings.database_schema
        db = await Database(self._dsn, schema, name="test", size=2).open()
        async with db.acquire() as conn:
            await migrate(conn, schema)
            await install_history(conn)
            self.orgs = [await _member(conn, name) for name in ("acme", "globex")]
        await db.close()
        self.runtime = await self._stack.enter_async_context(
            open_runtime(self.settings, self._dsn, name="test", pipelines=self._scripts)
        )
        # Nothing expires that soon after a start of the server.
        grace = f"SELECT pg_sleep_until(pg_postmaster_start_time() + interval '{_GRACE_MS} ms')"
        await self.rows(grace)

    async def close(self) -> None:
        async with self.runtime.db.acquire() as conn:
            await conn.execute(f'DROP SCHEMA "{self.settings.database_schema}" CASCADE')
        await self._stack.aclose()

    def end(self) -> None:
        self.run(self.close())
        self._runner.close()

    async def clear(self) -> None:
        async with self.runtime.db.acquire() as conn:
            await conn.execute(f"TRUNCATE {_TABLES} CASCADE")

    def worker(self) -> Worker:
        return Worker(self.runtime, sweeps=False, announces=False)

    # Steps

    async def submit(self, org: int, pipeline: str, config: Mapping[str, Any]) -> UUID:
        async with self.runtime.db.transaction() as conn:
            receipt = await submit(
                self.runtime, conn, self.orgs[org], Order(pipeline, dict(config))
            )
        return receipt.job_id

    async def settle(
        self, claimed: Claim, places: Sequence[int], worked: ClaimOutcomes, last: bool
    ) -> bool:
        """The items in these places; answers whether any lease was held."""
        piece = replace(claimed, items=[claimed.items[place] for place in places])
        return (await settle(self.runtime, piece, worked, "w", 1, last=last)).held

    async def ingest(self, claimed: Claim, batches: int, fails: bool) -> None:
        """So many batches, then it yields, or fails, or comes to its end."""
        script = self._scripts[claimed.work.pipeline]
        left = batches

        def count(start: int) -> None:
            if fails and left <= 0:
                raise RuntimeError("the disk hiccups")

        def must_yield(seconds: float) -> bool:
            nonlocal left
            left -= 1
            return left <= 0 and not fails

        script.before_rows = count
        try:
            await Ingest(self.runtime, claimed, StopSign(), "w").run(must_yield)
        finally:
            script.before_rows = lambda start: None

    async def finish(self, claimed: Claim) -> None:
        await finish(self.runtime, claimed, StopSign(), "w")

    async def expire(self, ids: Sequence[UUID]) -> None:
        """These leases run out, by moving their end back."""
        async with self.runtime.db.acquire() as conn:
            await conn.execute(
                "UPDATE slices SET expires_at = now() - interval '1 second' WHERE id = ANY ($1)",
                list(ids),
            )

    async def beat(self, ids: Sequence[UUID]) -> set[UUID]:
        async with self.runtime.db.acquire() as conn:
            return set(await claims.extend(conn, list(ids), self.settings.lock_floor_ms))

    async def sweep(self) -> None:
        config = replace(Sweeper(self.runtime)._config, shortest_lease_ms=_GRACE_MS)
        await Sweeper(self.runtime, config).run_once()

    async def pass_time(self) -> None:
        """Everything that waits for its time is due now."""
        async with self.runtime.db.transaction() as conn:
            await conn.execute("UPDATE job_items SET due_at = now() WHERE due_at > now()")
            for table in ("job_stages", "jobs"):
                await conn.execute(
                    f"UPDATE {table} SET ready_at = now()"
                    " WHERE ready_at > now() AND ready_at < 'infinity'"
                )

    async def control(self, verb: str, job_id: UUID, org: int, from_start: bool) -> None:
        async with self.runtime.db.transaction() as conn:
            match verb:
                case "pause":
                    await jobs.pause(conn, job_id)
                case "resume":
                    await jobs.resume(conn, job_id)
                case "cancel":
                    await ending.cancel(conn, job_id)
                case "priority":
                    await jobs.set_priority(conn, job_id, 77)
                case _:
                    chosen = Selection(from_start=from_start)
                    await bulk.reprocess_job(self.runtime, conn, self.orgs[org], job_id, chosen)

    # Looking

    async def rows(self, sql: str, *args: Any) -> list[Any]:
        async with self.runtime.db.acquire() as conn:
            return await conn.fetch(sql, *args)

    async def violations(self, sent: Mapping[UUID, Submitted]) -> list[Violation]:
        async with self.runtime.db.acquire() as conn:
            return await check(
                conn, submitted=sent, drained=True, policy=POLICY, reclaim_seconds=3600
            )


def held_by(claimed: Claim) -> list[Held]:
    work = claimed.work
    return [
        Held(lease.id, lease.job_id, work.kind, work.position, tuple(lease.rows), lease.group)
        for lease in claimed.leases
    ]


async def _member(conn: Any, org: str) -> Principal:
    row = await accounts.ensure_org(conn, org)
    user = await accounts.ensure_user(conn, row.id, f"member@{org}", "member")
    found = await accounts.principal_of(conn, await accounts.create_key(conn, row.id, user.id))
    assert found is not None
    return found
