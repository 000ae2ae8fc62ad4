"""All faults at once, over all shapes of jobs; small here, whole in `make test-long`."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.chaos.campaign.page import filled
from tests.chaos.campaign.plan import Fault, Plan
from tests.chaos.campaign.run import Result, campaign

from penstock.pipelines.noop import ALLOW_CRASH

SMALL = Plan(
    kills=5, zombies=2, server_kills=1, cuts=3, seconds=10, live_jobs=3, patient_kills=0,
    footprint=False,
)  # fmt: skip


async def _run(plan: Plan, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.setenv(ALLOW_CRASH, "1")
    async with campaign(plan, folder, say=print) as made:
        return await made.run()


def _sum(result: Result, *faults: Fault) -> int:
    return sum(result.injected[fault.value] for fault in faults)


async def test_a_small_campaign_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = await _run(SMALL, tmp_path, monkeypatch)
    assert not result.violations, "\n".join(map(str, result.violations))
    assert _sum(result, Fault.KILL, Fault.KILL_AT) >= SMALL.kills


@pytest.mark.long
@pytest.mark.timeout(2400)
async def test_a_whole_campaign_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = await _run(Plan(), tmp_path, monkeypatch)
    assert not result.violations, "\n".join(map(str, result.violations))
    assert _sum(result, Fault.KILL, Fault.KILL_AT) >= 200
    assert _sum(result, Fault.ZOMBIE, Fault.ZOMBIE_AT) >= 50
    assert _sum(result, Fault.SERVER, Fault.BACKEND) >= 20
    again = result.figures["recoverySeconds"]["defaultLeases"]["claimed_again"]
    assert again["max"] <= 45
    assert "| items lost | 0 |" in filled("", {"machine": _ANY, **result.as_json()})


_ANY = {"cores": 2, "processor": "any", "memory_gb": 1.0, "python": "3", "postgresql": "18"}


def test_the_same_seed_plans_the_same_faults() -> None:
    plan = Plan(seed=7)
    assert plan.faults() == Plan(seed=7).faults()
    assert plan.faults() != Plan(seed=8).faults()
    assert len(plan.faults()) == plan.kills + plan.zombies + plan.server_kills + plan.cuts
