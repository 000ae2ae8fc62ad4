"""The table of times is what the report says, and a run begins with what takes longest."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import times
from tests.times import by_file, file_of, longest_first, read_report, table, with_table

_REPORT = """<testsuites><testsuite>
<testcase classname="tests.api.test_jobs" name="test_one" time="1.5"/>
<testcase classname="tests.api.test_jobs" name="test_two" time="2.0"/>
<testcase classname="tests.chaos.test_server.TestKilledServer" name="test_three" time="7.25"/>
<testcase classname="tests.test_docs" name="test_four" time="0.5"/>
</testsuite></testsuites>"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "tests.xml"
    path.write_text(_REPORT)
    return path


def test_folders_are_summed_and_the_longest_comes_first(report: Path) -> None:
    rows = [line.strip("| ").split(" | ") for line in table(read_report(report)).splitlines()[2:]]
    assert rows == [
        ["`tests/chaos`", "1", "7", "7.2"],
        ["`tests/api`", "2", "4", "2.0"],
        ["`tests`", "1", "0", "0.5"],
        ["all", "4", "11"],
    ]


def test_a_class_belongs_to_its_file() -> None:
    assert file_of("tests.chaos.test_server.TestKilledServer") == "tests/chaos/test_server.py"


def test_long_files_begin_and_those_of_the_browser_stay_together(report: Path) -> None:
    browser = {"tests/browser/test_a.py": 3.0, "tests/browser/b.py": 2.0}
    measured = by_file(read_report(report)) | browser
    order = sorted(
        ["tests/new.py", "tests/browser/b.py", "tests/api/test_jobs.py", "tests/browser/test_a.py"],
        key=lambda file: longest_first(file, measured),
    )
    assert order == [
        "tests/browser/b.py", "tests/browser/test_a.py", "tests/api/test_jobs.py", "tests/new.py",
    ]  # fmt: skip


def test_the_page_has_a_place_for_the_table() -> None:
    page = with_table(times.PAGE.read_text("utf-8"), "the table\n")
    assert "<!-- times -->\nthe table\n<!-- /times -->\n" in page
