"""Progress is true: it follows the rows, and guesses by bytes only while it must."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.model.errors import BadInput, ItemError
from penstock.model.ids import new_id
from penstock.model.progress import describe, shares_before


@given(st.lists(st.floats(0.1, 10), min_size=1, max_size=8))
def test_shares_before_begin_at_zero_and_grow(shares: list[float]) -> None:
    before = shares_before(shares)
    assert before[0] == 0
    assert before == sorted(before)
    assert all(0 <= share < 1 for share in before)


def test_the_rest_is_estimated_from_what_was_done() -> None:
    told = describe(
        percent=25, stage="extract", rows_done=25, rows_total=100, elapsed_ms=1000, state="running"
    )
    assert told["estimatedRemainingMs"] == 3000
    assert told["message"] == "25 of 100 rows finished, in extract"


def test_nothing_remains_of_a_job_that_has_ended() -> None:
    told = describe(
        percent=40, stage=None, rows_done=4, rows_total=10, elapsed_ms=9, state="cancelled"
    )
    assert told["estimatedRemainingMs"] == 0


def test_nothing_is_guessed_before_anything_is_known() -> None:
    told = describe(percent=0, stage=None, rows_done=0, rows_total=0, elapsed_ms=0, state="queued")
    assert told["estimatedRemainingMs"] is None
    assert told["message"] == "Waiting for a worker"


def test_ids_are_unique_and_sort_by_time() -> None:
    ids = [new_id() for _ in range(5000)]
    assert len(set(ids)) == 5000
    assert [i.version for i in ids] == [7] * 5000
    stamps = [i.int >> 80 for i in ids]
    assert stamps == sorted(stamps)


def test_an_error_without_a_name_is_an_internal_one() -> None:
    assert ItemError.of(KeyError("x")).code == "INTERNAL_ERROR"
    assert ItemError.of(BadInput("TOO_BIG", "no", limit=3)).as_json() == {
        "code": "TOO_BIG",
        "message": "no",
        "details": {"limit": 3},
    }


def test_rows_that_had_ended_before_tell_nothing_about_the_speed() -> None:
    """One row of a hundred was fixed, or ten of them: the others are no work of this run."""
    told = describe(
        percent=95, stage="extract", rows_done=95, rows_total=100, elapsed_ms=1000,
        state="running", kept=90,
    )  # fmt: skip
    assert told["estimatedRemainingMs"] == 1000
    assert (told["rowsDone"], told["rowsRun"]) == (95, 5)
    first = describe(
        percent=90, stage=None, rows_done=90, rows_total=100, elapsed_ms=5, state="running", kept=90
    )
    assert first["estimatedRemainingMs"] is None
