"""The optional limit of a lane: jobs beyond it begin later, and none is refused."""

from __future__ import annotations

import pytest
from tests.fixtures import Bench

from penstock.engine.lane_limit import LaneLimit
from penstock.model.network.token_bucket import Rate
from penstock.settings import Settings

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"lane_limit": "60/min burst 3"})


async def test_jobs_beyond_the_limit_begin_later(bench: Bench) -> None:
    jobs = [await bench.submit("noop", {"items": 1}) for _ in range(6)]
    await bench.work()
    states = [(await bench.job(one))["state"] for one in jobs]
    assert states == ["done"] * 3 + ["queued"] * 3
    due = [(await bench.job(one))["due_at"] for one in jobs]
    assert due[:3] == [None] * 3
    gaps = [(due[place + 1] - due[place]).total_seconds() for place in (3, 4)]
    assert all(0.5 < gap < 2 for gap in gaps)


def test_lanes_do_not_delay_each_other_and_a_rest_frees_them() -> None:
    limit = LaneLimit(Rate(1, 2))
    assert [limit.delay_ms("standard", 0) for _ in range(4)] == [0, 0, 1000, 2000]
    assert limit.delay_ms("basic", 0) == 0
    assert limit.delay_ms("standard", 60_000) == 0


def test_without_a_limit_nothing_waits() -> None:
    limit = LaneLimit()
    assert [limit.delay_ms("standard", 0) for _ in range(1000)] == [0] * 1000
