"""Weighted fair queueing, simulated with the same formulas the claim uses."""

from __future__ import annotations

import pytest

from penstock.model.fairness import PLAN_WEIGHTS, charged, lane_of, score, start_tag, turn_share
from penstock.model.states import shown_state


def serve(weights: dict[str, int], slices: int, cost: dict[str, float]) -> dict[str, float]:
    """One worker serving backlogged orgs; answers the milliseconds each one got."""
    vt = dict.fromkeys(weights, 0.0)
    got = dict.fromkeys(weights, 0.0)
    for _ in range(slices):
        system = min(vt.values())
        org = min(weights, key=lambda o: (score(start_tag(vt[o], system), 0, weights[o]), o))
        vt[org] = charged(vt[org], start_tag(vt[org], system), cost[org], weights[org])
        got[org] += cost[org]
    return got


def test_backlogged_orgs_share_by_weight_whatever_their_slices_cost() -> None:
    weights = {"big": 8, "mid": 4, "small": 1}
    got = serve(weights, 20_000, {"big": 50, "mid": 900, "small": 10})
    whole = sum(got.values())
    for org, weight in weights.items():
        assert got[org] / whole == pytest.approx(weight / 13, abs=0.02)


def test_an_org_back_from_idle_has_saved_nothing_up() -> None:
    assert start_tag(3.0, 500.0) == 500.0


def test_what_an_org_already_holds_counts() -> None:
    assert score(0, 5000, 2) > score(0, 0, 1)


@pytest.mark.parametrize(
    ("plan", "lane"),
    [
        ("enterprise", "priority.acme"),
        ("premium", "standard"),
        ("standard", "standard"),
        ("basic", "basic"),
        ("trial", "default"),
    ],
)
def test_each_plan_has_its_lane(plan: str, lane: str) -> None:
    assert lane_of(plan, "acme") == lane
    assert plan in PLAN_WEIGHTS


def test_a_pause_and_a_due_time_are_shown() -> None:
    assert shown_state("running", paused=True, delayed=False) == "paused"
    assert shown_state("queued", paused=False, delayed=True) == "delayed"
    assert shown_state("done", paused=True, delayed=True) == "done"


def test_turns_are_shorter_where_many_wait() -> None:
    assert turn_share(1, 4) == turn_share(4, 4) == 1
    assert turn_share(8, 4) == 0.5
    assert turn_share(0, 1) == 1
    assert turn_share(1000, 4) == 0.05
