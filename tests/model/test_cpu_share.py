"""How processor time is divided: whatever the accounts use, no light one is limited and no heavy
one gets more than is left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.model.cpu.share import PROTECTED, SATURATED, fair_level

USED = st.dictionaries(
    st.integers(0, 20), st.floats(0, 4, allow_nan=False), min_size=1, max_size=12
)


@given(USED)
def test_all_together_stay_within_the_capacity(used: dict[int, float]) -> None:
    level = fair_level(used, ())
    assert sum(min(rate, level) for rate in used.values()) <= PROTECTED + 1e-9


@given(USED)
def test_every_account_has_at_least_an_equal_share(used: dict[int, float]) -> None:
    assert fair_level(used, ()) >= PROTECTED / len(used) - 1e-9


@given(USED)
def test_what_light_accounts_leave_unused_goes_to_the_heaviest(used: dict[int, float]) -> None:
    level = fair_level(used, ())
    *lighter, _ = sorted(used.values())
    assert abs(sum(min(rate, level) for rate in lighter) + level - PROTECTED) < 1e-9


@given(USED)
def test_the_level_stays_once_the_limit_takes_effect(used: dict[int, float]) -> None:
    level = fair_level(used, ())
    limited = {name: min(rate, level) for name, rate in used.items()}
    assert abs(fair_level(limited, ()) - level) < 1e-9


@given(USED)
def test_more_is_given_out_when_every_account_waits(used: dict[int, float]) -> None:
    level = fair_level(used, used.keys())
    assert level >= SATURATED / len(used) - 1e-9
    assert sum(min(rate, level) for rate in used.values()) <= SATURATED + 1e-9


def test_one_account_below_its_share_keeps_the_reserve() -> None:
    assert fair_level({"heavy": 2.0, "light": 0.05}, {"heavy"}) == PROTECTED - 0.05
