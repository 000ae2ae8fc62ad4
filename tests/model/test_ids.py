"""Ids sort by the moment they were created, within a millisecond too."""

from __future__ import annotations

from datetime import UTC, datetime
from unittest.mock import patch

from penstock.model.ids import first_id_of, new_id, new_ids

_SECOND = 1_000_000_000


def test_ids_of_one_millisecond_sort_by_creation() -> None:
    moments = [1_700_000_000 * _SECOND + micros * 1000 for micros in range(0, 1000, 5)]
    with patch("penstock.model.ids.time.time_ns", side_effect=moments):
        ids = [new_id() for _ in moments]
    assert ids == sorted(ids)
    assert {one.int >> 80 for one in ids} == {1_700_000_000_000}


def test_ids_are_version_7_and_unique() -> None:
    ids = [new_id(), *new_ids(5000)]
    assert len(set(ids)) == 5001
    assert {(one.version, one.variant) for one in ids} == {(7, "specified in RFC 4122")}


def test_the_first_id_of_a_moment_is_below_all_later_ones() -> None:
    before = datetime.now(UTC)
    assert first_id_of(before) <= min([new_id(), *new_ids(100)])
