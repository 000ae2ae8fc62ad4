"""`make test` fails when any of its checks does, and says which."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import everything
from tests.everything import Check, run_all


def check(name: str, code: int) -> Check:
    return Check(
        name, (sys.executable, "-c", f"print('output of {name}'); raise SystemExit({code})")
    )


def test_a_failing_check_is_shown_and_a_passing_one_is_not(
    capfd: pytest.CaptureFixture[str],
) -> None:
    results = run_all(check("tests", 0), [check("style", 0), check("types", 1)])
    assert [(one.name, one.passed) for one in results] == [
        ("style", True), ("types", False), ("tests", True),
    ]  # fmt: skip
    shown = capfd.readouterr().out
    assert "output of tests" in shown
    assert "output of types" in shown
    assert "output of style" not in shown


@pytest.mark.parametrize(
    ("codes", "expected"), [((0, 0), 0), ((1, 0), 1), ((0, 1), 1)], ids=["none", "tests", "style"]
)
def test_any_failure_is_a_failure_of_all(
    codes: Sequence[int], expected: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(everything, "_REPORT", tmp_path / "none.xml")
    monkeypatch.setattr(everything, "TESTS", check("tests", codes[0]))
    monkeypatch.setattr(everything, "CHECKS", (check("style", codes[1]),))
    assert everything.main([]) == expected


def report(path: Path, failed: int) -> Path:
    case = '<testcase classname="tests.a" name="test_{}"><failure/></testcase>'
    cases = "".join(map(case.format, range(failed)))
    passed = '<testcase classname="tests.a" name="test_fine"/>'
    path.write_text(f"<testsuites><testsuite>{cases}{passed}</testsuite></testsuites>")
    return path


@pytest.mark.parametrize(
    ("failed", "again", "expected"),
    [(2, 0, 0), (2, 1, 1), (6, 0, 1)],
    ids=["they pass alone", "they fail alone too", "too many failed"],
)
def test_a_few_failed_tests_are_run_once_more(
    failed: int, again: int, expected: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The first run writes its report, fails, and the second one decides."""
    made, place = report(tmp_path / "made.xml", failed), tmp_path / "tests.xml"
    first = f"import shutil; shutil.copy({str(made)!r}, {str(place)!r}); raise SystemExit(1)"
    monkeypatch.setattr(everything, "_REPORT", place)
    monkeypatch.setattr(everything, "CHECKS", ())
    monkeypatch.setattr(everything, "TESTS", Check("tests", (sys.executable, "-c", first)))
    monkeypatch.setattr(everything, "AGAIN", check("again", again))
    assert everything.main([]) == expected
    shown = capfd.readouterr().out
    assert ("output of again" in shown) == (failed == 2)
    assert ("tests.a::test_1" in shown) == (expected == 0)


def test_every_check_of_the_project_is_run() -> None:
    tools = {str(one.command[0]).rpartition("/")[2] for one in everything.CHECKS}
    assert tools == {"ruff", "lint-imports", "mypy"}
