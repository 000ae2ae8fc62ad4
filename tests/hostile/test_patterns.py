"""No pattern of the package takes more than linear time, whatever text it is given."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import pytest
from pydantic import StringConstraints, TypeAdapter
from pydantic_core import SchemaError
from tests.hostile.patterns import all_patterns
from tests.hostile.pumping import slow_text, step_seconds

import penstock

SOURCE = Path(penstock.__file__).parent


def test_patterns_are_linear() -> None:
    step, slow = step_seconds(), []
    for found in all_patterns():
        why = slow_text(found.pattern, found.methods, step, found.cap)
        if why is not None:
            slow.append(f"{', '.join(found.places)}\n  {found.pattern.pattern!r}\n  {why}")
    assert not slow, f"{len(slow)} patterns are not linear:\n" + "\n".join(slow)


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(a+)+$", "search"),
        (r"(a|a)*b", "match"),
        (r"(a|aa)+$", "fullmatch"),
        (r"\s*(<!--.{0,2000}?-->\s*)*<x", "match"),
        (r"[+-]?[0-9]*\.?[0-9]+(e[+-]?[0-9]+)?", "fullmatch"),
        (r"\s+$", "search"),
        (r"\s++$", "search"),
        (r"(\w+\.)*\w+@", "search"),
        (r"<row\s(?=[^>]*\bhidden)[^>]*?\br=", "search"),
        (r"INSERT\s+INTO\s+\w+\s*\([^)]*\)", "search"),
        (r"COPY\s+[\w.]+.{0,2000}FROM", "match"),
    ],
)
def test_slow_patterns_are_found(pattern: str, method: str) -> None:
    assert slow_text(re.compile(pattern), {method}, step_seconds()) is not None


@pytest.mark.parametrize(
    ("pattern", "method"),
    [(r"\s++x", "match"), (r"[0-9]{1,9}", "search"), (r"a*+b", "match"), (r"<[^<>]*+>", "search")],
)
def test_linear_patterns_pass(pattern: str, method: str) -> None:
    assert slow_text(re.compile(pattern), {method}, step_seconds()) is None


def test_enough_patterns_are_looked_at() -> None:
    found = all_patterns()
    assert len(found) > 250
    assert any(":" in place for one in found for place in one.places), "none inside of functions"


def test_patterns_of_fields_use_the_linear_engine() -> None:
    """Pydantic's own engine knows no look-around, and does not backtrack."""
    with pytest.raises(SchemaError, match="look-around"):
        TypeAdapter(Annotated[str, StringConstraints(pattern=r"(?=a)a")])
    code = "".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    assert "regex_engine" not in code
