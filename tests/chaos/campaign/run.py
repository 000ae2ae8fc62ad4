"""A whole campaign: warm up, harm, drain, look back."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos.campaign.clients import Clients
from tests.chaos.campaign.measures import (
    REFUSED,
    Footprint,
    Spread,
    footprint,
    recovery,
    said,
    turns,
)
from tests.chaos.campaign.nemesis import Nemesis
from tests.chaos.campaign.plan import Plan
from tests.chaos.campaign.shapes import Shape, one_of_each
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.worker_pool import LANES, WorkerPool, WorkerProcess
from tests.checker.check import Violation, check
from tests.checker.history import install_history, watched
from tests.checker.polling import until

from penstock.model.policy import RetryPolicy, RetryRule
from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Database
from penstock.store.migrate import migrate
from penstock.supervisor.postgres import EmbeddedPostgres
from penstock.wiring import open_runtime

# A lookup without a match would wait for a quarter of an hour.
_POLICY = RetryPolicy(not_found=RetryRule(0))
_SHORT_LEASES: dict[str, Any] = {
    "lock_floor_ms": 1500,
    "lock_cap_ms": 3000,
    "sweep_ms": 200,
    "poll_ms": 100,
    "worker_target_slice_ms": 1000,
    "worker_slots": 3,
    # What dies twice goes on item by item, and here everything dies often.
    "claim_max": 150,
    "shutdown_ms": 3000,
    "max_attempts_not_found": 0,
    "log_level": "info",
}
_WARM_UPS = 5
# Longest from the last sign of life of a worker until what it held can be claimed by others.
_TAKEN_BACK_SECONDS = 60
# As a real installation has them.
_DEFAULTS = {name: Settings.model_fields[name].default
             for name in ("lock_floor_ms", "lock_cap_ms", "sweep_ms", "poll_ms",
                          "worker_target_slice_ms")}  # fmt: skip
Say = Callable[[str], None]


@dataclass
class Result:
    """What a campaign found; ``violations`` must be empty."""

    plan: Plan
    violations: list[Violation] = field(default_factory=list)
    injected: Counter[str] = field(default_factory=Counter)
    figures: dict[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "plan": asdict(self.plan),
            "violations": [str(one) for one in self.violations],
            "injected": dict(self.injected),
            **self.figures,
        }


@dataclass
class Campaign:
    plan: Plan
    chaos_bench: ChaosBench
    worker_pool: WorkerPool
    server: EmbeddedPostgres
    orgs: Sequence[Principal]
    say: Say

    async def run(self) -> Result:
        result = Result(self.plan)
        async with watched(self.chaos_bench.runtime.db, pause=2.0) as self.chaos_bench.watch:
            veteran = await self._warm_up()
            before = await self._footprint(veteran)
            nemesis = Nemesis(self.plan, self.worker_pool, self.chaos_bench, self.server, veteran)
            keeping = asyncio.create_task(nemesis.keep())
            await self._harm(result, nemesis)
            await self._drain(result)
            keeping.cancel()
            result.figures["diedOfPoison"] = nemesis.died
            if self.plan.footprint:
                await self._leaves_nothing(result, veteran, before)
            short = await recovery(self.chaos_bench)
            patient = await self._harm_patiently()
        result.figures["recoverySeconds"] = {
            "shortLeases": {name: spread.as_json() for name, spread in short.items()},
            "defaultLeases": {name: spread.as_json() for name, spread in patient.items()},
        }
        for kind, spreads in (("short", short), ("default", patient)):
            if spreads and spreads["taken_back"].max > _TAKEN_BACK_SECONDS:
                late = f"{kind} lease taken back after {spreads['taken_back'].max} s"
                result.violations.append(Violation(9, late))
        await self._judge(result)
        return result

    async def _warm_up(self) -> WorkerProcess:
        """Jobs of each shape, undisturbed: what the veteran takes after that is its share."""
        # Poison comes from the first org, in a lane of its own, and is not for the veteran.
        veteran = self.worker_pool.start(env={LANES: "standard"})
        await veteran.is_up()
        clients = self._clients()
        for turn in range(_WARM_UPS if self.plan.footprint else 0):
            chance = random.Random(f"warm up {turn}")
            shapes = one_of_each(chance)
            await self._done(*[await clients.send(self.orgs[1], one) for one in shapes])
        return veteran

    async def _harm(self, result: Result, nemesis: Nemesis) -> None:
        clients = self._clients()
        began = time.monotonic()
        load = asyncio.create_task(clients.run())
        progress = asyncio.create_task(self._tell(nemesis, clients))
        try:
            await nemesis.run()
        finally:
            clients.stopped = True
            progress.cancel()
            await asyncio.gather(load, return_exceptions=False)
        result.injected.update({fault.value: count for fault, count in nemesis.injected.items()})
        result.figures |= {
            "faultSeconds": round(time.monotonic() - began, 1),
            "jobs": dict(clients.submitted),
            "control": dict(clients.control),
            "askedAgain": clients.unsure,
            "serverBackSeconds": Spread.of(nemesis.restarts).as_json(),
        }

    async def _drain(self, result: Result) -> None:
        """25. Faults have stopped, so all comes to its end."""
        began = time.monotonic()
        await self._done(*self.chaos_bench.sent, timeout=self.plan.drain_seconds)
        result.figures["drainedSeconds"] = round(time.monotonic() - began, 1)

    async def _leaves_nothing(
        self, result: Result, veteran: WorkerProcess, before: Footprint
    ) -> None:
        """23. Once nothing is to do, all is as it was before."""
        for hand in self.worker_pool.living():
            if hand is not veteran:
                hand.end()
        await self._idle(veteran, before)
        after = await self._footprint(veteran)
        result.violations += [Violation(23, what) for what in after.grew(before)]
        result.figures["footprint"] = {"before": asdict(before), "after": asdict(after)}
        veteran.end()

    async def _harm_patiently(self) -> dict[str, Spread]:
        """Kills under default leases, on machines of their own, where only the lease tells."""
        if not self.plan.patient_kills:
            return {}
        chance = random.Random(f"patience {self.plan.seed}")
        processes = [self.worker_pool.start(elsewhere=True, **_DEFAULTS) for _ in range(3)]
        first = len(self.worker_pool.processes) - len(processes)
        clients = self._clients()
        for who in self.orgs:
            await clients.send(who, Shape("steady", 8000, {"inline": False, "workMs": 15}))
        for _ in range(self.plan.patient_kills):
            await asyncio.sleep(chance.uniform(4, 9))
            victim = processes.pop(chance.randrange(len(processes)))
            victim.kill()
            processes.append(self.worker_pool.start(elsewhere=True, **_DEFAULTS))
        # What the last one held is claimed by then; the rest of the work is not needed.
        await asyncio.sleep(25)
        for job_id in self.chaos_bench.sent:
            await self.chaos_bench.cancel(job_id)
        await self._done(*self.chaos_bench.sent, timeout=self.plan.drain_seconds)
        names = [hand.id for hand in self.worker_pool.processes[first:] if hand.said()]
        return dict(await recovery(self.chaos_bench, names))

    async def _judge(self, result: Result) -> None:
        self.say("Looking at the history …")
        async with self.chaos_bench.runtime.db.acquire() as conn:
            await conn.execute("SET statement_timeout = 0")
            result.violations += await check(
                conn, submitted=self.chaos_bench.sent, drained=True, policy=_POLICY,
                # The queue is always full: when it is their turn is not a matter of recovery.
                reclaim_seconds=1e6, watch=self.chaos_bench.watch,
                blobs=self.chaos_bench.runtime.blobs,
            )  # fmt: skip
        heard = said(self.worker_pool)
        count = Counter(violation.invariant for violation in result.violations)
        result.figures |= {
            "items": await turns(self.chaos_bench),
            "snapshots": self.chaos_bench.watch.snapshots,
            "lost": count[1] + count[2] + count[3],
            "doubled": count[6],
            "staleWrites": {"refused": sum(heard[what] for what in REFUSED), "written": count[5]},
            "said": dict(sorted(heard.items())),
        }

    # Small things

    def _clients(self) -> Clients:
        return Clients(self.chaos_bench, self.orgs, self.plan.seed, self.plan.live_jobs)

    async def _footprint(self, hand: WorkerProcess) -> Footprint:
        return await footprint(self.chaos_bench, hand, self.worker_pool.settings.blob_dir)

    async def _idle(self, veteran: WorkerProcess, before: Footprint) -> None:
        """Connections opened under load close after an idle minute, and memory is freed some time
        later."""

        async def back() -> bool:
            now = await self._footprint(veteran)
            return not now.grew(before)

        try:
            await until(back, "the veteran to be as before", timeout=90, pause=1)
        except AssertionError as error:
            self.say(str(error))

    async def _done(self, *job_ids: Any, timeout: float = 60) -> None:
        open_jobs = "SELECT count(*) FROM jobs WHERE id = ANY ($1) AND finished_at IS NULL"

        async def none_open() -> bool:
            left = await self.chaos_bench.value_or_none(open_jobs, list(job_ids))
            return bool(left == 0)

        await until(none_open, "all jobs to end", timeout=timeout, pause=0.2)

    async def _tell(self, nemesis: Nemesis, clients: Clients) -> None:
        began = time.monotonic()
        while True:
            await asyncio.sleep(30)
            done = sum(nemesis.injected.values())
            self.say(
                f"{time.monotonic() - began:4.0f} s: {done} of {len(self.plan.faults())} faults,"
                f" {sum(clients.submitted.values())} jobs"
            )


@asynccontextmanager
async def campaign(plan: Plan, folder: Path, say: Say) -> AsyncIterator[Campaign]:
    """On a server and in a folder of its own."""
    settings = Settings(
        data_dir=folder / "data", database_schema="campaign", test_pipelines=True, **_SHORT_LEASES
    )
    async with EmbeddedPostgres(folder / "server") as server:
        dsn = server.owner_dsn
        db = await Database(dsn, "campaign", name="penstock test", size=4).open()
        async with db.acquire() as conn:
            await migrate(conn, "campaign")
            await install_history(conn)
            first = await _member(conn, "org0", "enterprise")
            orgs = [first, *[await _member(conn, f"org{n}") for n in range(1, plan.orgs)]]
        await db.close()
        async with open_runtime(settings, dsn, name="test") as runtime:
            with WorkerPool(settings, dsn, folder / "crew", shows=False) as worker_pool:
                yield Campaign(plan, ChaosBench(runtime, orgs[0]), worker_pool, server, orgs, say)


async def _member(conn: Any, org: str, plan: str = "standard") -> Principal:
    row = await accounts.ensure_org(conn, org, plan)
    user = await accounts.ensure_user(conn, row.id, f"member@{org}", "member")
    found = await accounts.principal_of(conn, await accounts.create_key(conn, row.id, user.id))
    assert found is not None
    return found
