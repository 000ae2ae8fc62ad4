"""Research requests while workers are killed in every stage, and while sources fail."""

from __future__ import annotations

import statistics
from collections.abc import AsyncIterator
from datetime import datetime
from uuid import UUID

import pytest
from tests.chaos.worker_pool import WorkerPool
from tests.checker.polling import until
from tests.fixtures import Bench
from tests.research.support import ENDED, Researcher, serving

from penstock.providers.sandbox import sources as sandbox_sources
from penstock.providers.sandbox.faults import FaultPlan
from penstock.providers.sandbox.limits import Rate
from penstock.providers.sandbox.server import Sandbox
from penstock.settings import Settings

LONG = (pytest.mark.long, pytest.mark.timeout(3600))
STAGES = ("validate", "call", "collect", "normalise", "store", "notify")
SOURCES = ("sandbox-json", "sandbox-xml", "sandbox-csv")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={"provider_allow": "127.0.0.1", "research_user_day": 0, "research_org_day": 0}
    )


@pytest.fixture
async def shops() -> AsyncIterator[Sandbox]:
    async with serving() as made:
        yield made


@pytest.fixture
def research(bench: Bench, shops: Sandbox) -> Researcher:
    return Researcher(bench, shops)


async def ended(research: Researcher, jobs: list[UUID], timeout: float) -> None:
    async def all_ended() -> bool:
        async with research.bench.runtime.db.acquire() as conn:
            left = await conn.fetchval(
                "SELECT count(*) FROM jobs WHERE id = ANY ($1) AND state <> ALL ($2)",
                jobs, list(ENDED),
            )  # fmt: skip
        return bool(left == 0)

    await until(all_ended, "the requests to end", timeout=timeout)


async def stage_of(research: Researcher, job: UUID) -> set[str]:
    """The earliest stage with open items; later ones wait for it. Empty at the end."""
    async with research.bench.runtime.db.acquire() as conn:
        stage = await conn.fetchval(
            "SELECT min(stage) FROM job_items WHERE job_id = $1"
            " AND status IN ('PENDING', 'PROCESSING')",
            job,
        )
    return set() if stage is None else {STAGES[stage]}


@pytest.mark.parametrize("formats", [("json",), ("json", "xml", "csv")], ids=len)
@pytest.mark.parametrize("place", ["after_work", "before_commit", "after_commit"])
async def test_workers_are_killed_in_every_stage(
    research: Researcher,
    shops: Sandbox,
    worker_pool: WorkerPool,
    place: str,
    formats: tuple[str, ...],
) -> None:
    """No call that ended is made again, not even one whose result was not committed. Calls of other
    sources that are under way when the worker dies are made again."""
    await research.add_sources(*formats)
    expected = await research.products(await research.run("Lamp"))
    shops.stats = type(shops.stats)()
    job = await research.ask("Lamp")
    deaths, killed = 0, set[str]()

    async def over() -> bool:
        return (await research.bench.job(job))["state"] in ENDED

    while not await over():
        # Once in each stage: an item that crashes again and again counts as the cause of it.
        new = await stage_of(research, job) - killed
        victim = worker_pool.start(f"{place if new else 'after_commit'}:kill:1", worker_slots=1)
        killed |= new
        deaths += await victim.dies_unless(over)
        assert deaths < 60
    worker_pool.start()
    await ended(research, [job], 60)
    assert deaths >= len(STAGES)
    assert killed == set(STAGES)
    failures = [one["failed"] for one in (await research.summary(job))["sources"].values()]
    assert failures == [None] * len(formats)
    assert await research.products(job) == expected
    # Two are under way when the first is settled, and one when the second is.
    assert shops.stats.total.repeated <= {1: 0, 3: 3}[len(formats)]
    assert shops.stats.total.calls == len(formats) + shops.stats.total.repeated


@pytest.mark.parametrize("requests", [12, pytest.param(500, marks=LONG)])
async def test_twenty_percent_of_calls_fail(
    research: Researcher,
    shops: Sandbox,
    worker_pool: WorkerPool,
    monkeypatch: pytest.MonkeyPatch,
    requests: int,
) -> None:
    """Every source of every request is accounted for, limits are kept."""
    if requests > 100:
        monkeypatch.setattr(sandbox_sources, "RATE", Rate(20, 40))
    await research.add_sources()
    shops.faults.plan = FaultPlan(0.2)
    # Each query is another one, so that the sandbox notices every call that is repeated.
    words = [f"{'aeo'[n // 200]} {n % 200 + 1}" for n in range(requests)]
    jobs = [await research.ask(word, maxSeconds=300) for word in words]
    for _ in range(2):
        worker_pool.start(item_timeout_ms=15_000)
    await ended(research, jobs, 300 + 2 * requests)
    answered = failed = 0
    reasons: dict[str, int] = {}
    for job in jobs:
        summary = await research.summary(job)
        assert set(summary["sources"]) == set(SOURCES)
        for told in summary["sources"].values():
            if told["failed"] is None:
                answered += 1
                assert told["calls"] >= 1
            else:
                failed += 1
                code = str(told["failed"]["code"])
                reasons[code] = reasons.get(code, 0) + 1
    stats = shops.stats.total.as_json()
    print(f"{requests} requests: {answered} answered, {failed} failed {reasons};", stats)
    assert answered + failed == 3 * requests
    assert stats["violations"] == stats["repeated"] == 0
    assert answered > 0.85 * 3 * requests


async def waits(research: Researcher, jobs: list[UUID]) -> dict[str, list[float]]:
    """Seconds from the first step of each source to its first offers."""
    found: dict[str, list[float]] = {}
    for job in jobs:
        at: dict[tuple[str, str], datetime] = {}
        for event in await research.events(job, "research.progress"):
            step = (event.get("source", ""), event["stage"])
            at.setdefault(step, datetime.fromisoformat(event["timestamp"]))
        for name in SOURCES:
            if (name, "normalise") in at:
                took = at[name, "normalise"] - at[name, "validate"]
                found.setdefault(name, []).append(took.total_seconds())
    return found


@pytest.mark.parametrize(
    ("requests", "rounds"), [(5, 1), pytest.param(20, 5, marks=pytest.mark.long)]
)
async def test_one_source_that_is_down_does_not_slow_the_others_down(
    research: Researcher,
    shops: Sandbox,
    worker_pool: WorkerPool,
    monkeypatch: pytest.MonkeyPatch,
    requests: int,
    rounds: int,
) -> None:
    """Rounds with and without the outage alternate, so that the machine's own load counts for
    both."""
    monkeypatch.setattr(sandbox_sources, "RATE", Rate(20, 40))
    await research.add_sources()
    worker_pool.start(circuit_open_ms=1000)
    # Child processes start with the first answers.
    await ended(research, [await research.ask("Mug")], 60)
    usual: dict[str, list[float]] = {}
    outage: dict[str, list[float]] = {}
    for number in range(2 * rounds):
        is_down = number % 2 == 1
        shops.faults.plan = FaultPlan(1.0, ("500",), shops=("xml",)) if is_down else FaultPlan()
        jobs = [await research.ask(f"{'ae'[is_down]} {number * 100 + n}") for n in range(requests)]
        await ended(research, jobs, 120)
        for name, found in (await waits(research, jobs)).items():
            (outage if is_down else usual).setdefault(name, []).extend(found)
        for job in jobs if is_down else ():
            summary = await research.summary(job)
            assert summary["sources"]["sandbox-xml"]["failed"]["code"] in (
                "SERVICE_UNAVAILABLE", "CIRCUIT_OPEN",
            )  # fmt: skip
            assert summary["sourcesAnswered"] == 2
    assert "sandbox-xml" not in outage
    for name in ("sandbox-json", "sandbox-csv"):
        assert len(usual[name]) == len(outage[name]) == rounds * requests
        told = [statistics.quantiles(one[name], n=20)[-1] for one in (usual, outage)]
        print(name, "p95 in s, and while another source is down:", told)
        # Other tests beside the short one would be measured, too.
        assert told[1] <= told[0] * 1.1 + 0.02 or rounds == 1
