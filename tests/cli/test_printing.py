"""What commands print for people."""

from __future__ import annotations

import pytest

from penstock.cli import printing
from penstock.cli.jobs.summary_view import counts_of


def test_values_are_written_as_people_write_them(capsys: pytest.CaptureFixture[str]) -> None:
    printing.fields(
        [("on", True), ("off", False), ("names", ["a", "b"]), ("to", {"url": "x"}), ("none", [])]
    )
    assert capsys.readouterr().out.splitlines() == [
        "on     yes", "off    no", "names  a, b", 'to     {"url": "x"}',
    ]  # fmt: skip


def test_one_thing_is_not_many() -> None:
    assert printing.count(1, "file", "files") == "1 file"
    assert printing.count(1234, "file", "files") == "1,234 files"


def test_a_time_is_shown_in_its_zone() -> None:
    shown = printing.local_moment("2026-07-01T04:00:00Z", "Europe/Berlin")
    assert shown == "2026-07-01 06:00:00+02:00"


def test_a_summary_begins_with_the_rows() -> None:
    stored = {"new": 6, "held": 0, "notes": ["x"], "total": 11, "valid": 7, "other": 1}
    assert list(counts_of(stored)) == ["total", "valid", "new", "held", "other"]
