"""`make test` fails when any of its checks does, and says which."""

from __future__ import annotations

import sys
from collections.abc import Sequence

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
    codes: Sequence[int], expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(everything, "TESTS", check("tests", codes[0]))
    monkeypatch.setattr(everything, "CHECKS", (check("style", codes[1]),))
    assert everything.main([]) == expected


def test_every_check_of_the_project_is_run() -> None:
    tools = {str(one.command[0]).rpartition("/")[2] for one in everything.CHECKS}
    assert tools == {"ruff", "lint-imports", "mypy"}
