"""Each counted rule can fail, and the record of what breaks it can only shrink."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.house.ratchet import RECORD, above, lowered
from tests.house.rules import MOST_FILES, MOST_LINES, RULES, document_keys

_RULES = {rule.name: rule for rule in RULES}
# A file that breaks the rule, what it contains, and where the rule counts it.
_VIOLATIONS = {
    "files per folder": ("src/penstock/api/one.py", "", "api", MOST_FILES + 1),
    "long functions": (
        "src/penstock/api/one.py", "def one():\n" + "    pass\n" * MOST_LINES, "one.py", 1,
    ),
    "imports of asyncpg": (
        "src/penstock/engine/claim.py", "from asyncpg import Record\n", "claim.py", 1,
    ),
    "keys of pipelines' documents in SQL": (
        "src/penstock/store/sql/claims.sql", "SELECT n->'brief' FROM t", "claims.sql", 1,
    ),
    "audit entries outside of use cases": (
        "src/penstock/api/one.py", "await accounts.audit(conn)", "api/one.py", 1,
    ),
    "records that leave store": (
        "src/penstock/store/jobs/one.py",
        "async def one(conn) -> list[Any]: ...\nclass Page:\n    rows: Sequence[Any]\n",
        "store/jobs/one.py", 2,
    ),
    "words to avoid": ("docs/page.md", "Whoever asks, nobody answers.", "nobody", 1),
}  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "src/penstock").mkdir(parents=True)
    return tmp_path


def write(root: Path, place: str, text: str) -> None:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_every_rule_has_an_example_that_breaks_it() -> None:
    assert set(_VIOLATIONS) == set(_RULES)


@pytest.mark.parametrize("name", _VIOLATIONS)
def test_a_violation_is_counted(name: str, checkout: Path) -> None:
    assert _RULES[name].find(checkout) == {}
    place, text, counted_at, count = _VIOLATIONS[name]
    if name == "files per folder":
        for number in range(MOST_FILES):
            write(checkout, f"src/penstock/api/file_{number}.py", "")
        assert _RULES[name].find(checkout) == {}
    write(checkout, place, text)
    assert _RULES[name].find(checkout)[counted_at] == count


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("src/penstock/store/rows.py", "import asyncpg\n"),
        ("src/penstock/brokers/postgres.py", "import asyncpg\n"),
        ("src/penstock/store/sql/effects/upsert.sql", "SELECT n->'brief' FROM t"),
        ("src/penstock/store/sql/products.sql", "SELECT n->>'title' FROM t"),
        ("src/penstock/store/sql/jobs.sql", "SELECT error->>'code' FROM t -- not n->'brief'"),
        ("src/penstock/app/undo.py", "await audit(conn)"),
        ("src/penstock/store/rows.py", "await conn.fetch(x)\ndef one() -> dict[str, Any]: ...\n"),
        ("src/penstock/store/rows.py", "def _one() -> Any: ...\ndef two() -> Json: ...\n"),
        ("src/penstock/cli/jobs.py", 'shown["id"]'),
        ("src/penstock/web/dist/page.js", "nobody"),
        ("docs/page.md", "A clean breathalyser."),
    ],
)
def test_what_is_allowed_is_not_counted(place: str, text: str, checkout: Path) -> None:
    write(checkout, place, text)
    assert [rule.name for rule in RULES if rule.find(checkout)] == []


def test_keys_are_found_in_every_spelling() -> None:
    assert document_keys("a->'x', a ->> 'y', a #>> '{identifiers,gtin,0}', a ? 'z'") == [
        "x", "y", "identifiers", "gtin", "z",
    ]  # fmt: skip
    assert document_keys("jsonb_build_object('at', now(), 'x', f('a', 'b'), 'y', 1)") == ["x", "y"]
    assert document_keys("SELECT 'x', error->>'code' FROM t WHERE f(1, 'y')") == []


def test_counts_above_the_record_are_told() -> None:
    assert above({"a": 3, "b": 1}, {"a": 2, "b": 1}) == ["a: 3, at most 2 allowed"]
    assert above({"new": 1}, {}) == ["new: 1, at most 0 allowed"]
    assert above({}, {"a": 2}) == []


def test_the_record_is_never_raised() -> None:
    assert lowered({"a": 3, "b": 1, "new": 4}, {"a": 2, "b": 5, "gone": 1}) == {"a": 2, "b": 1}


def test_the_record_names_no_other_rules() -> None:
    assert set(json.loads(RECORD.read_text("utf-8"))) == set(_RULES)
