"""Expressions: what they compute, what they refuse, and that nothing gets out of them."""

from __future__ import annotations

import time
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.sources.expressions.evaluate import compiled, evaluate
from penstock.model.sources.expressions.functions import FUNCTIONS
from penstock.model.sources.expressions.tokens import ExpressionError
from penstock.model.sources.expressions.values import MAX_ELEMENTS, MAX_TEXT

TODAY = date(2026, 11, 16)
RECORD: dict[str, Any] = {
    "sku": "A-1",
    "price": {"#text": "12.50", "@currency": "EUR"},
    "prices": [{"from": 1, "value": 5}, {"from": 10, "value": Decimal("4.5")}],
    "Preis EUR": "1.234,50",
    "stock": 0,
    "days": 3,
    "seen": "03.04.2026",
    "tags": ["a", "b"],
    "empty": "",
    "nothing": None,
}


def value(text: str, lookups: dict[str, dict[str, str]] | None = None) -> Any:
    return evaluate(compiled(text, lookups or {}), RECORD, TODAY, lookups)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sku", "A-1"),
        ("$.sku", "A-1"),
        ("`Preis EUR`", "1.234,50"),
        ("prices[1].value", Decimal("4.5")),
        ("prices[*].value", [5, Decimal("4.5")]),
        ("missing.deep[3].x", None),
        ("sku.upper", None),
        ("number(`Preis EUR`, 'comma')", Decimal("1234.50")),
        ("number('1,234.50 EUR', 'point')", Decimal("1234.50")),
        ("price * 2", Decimal("25.00")),
        ("price.@currency", "EUR"),
        ("1 + 2 * 3 - -4", Decimal(11)),
        ("(1 + 2) * 3 % 4", Decimal(1)),
        ("10 / 4", Decimal("2.5")),
        ("10 / stock", None),
        ("missing + 1", None),
        ("if(stock > 0, 'in stock', 'out of stock')", "out of stock"),
        ("if(stock > 0, 'in stock')", None),
        ("if(not exists(missing) and days >= 3, 'yes', 'no')", "yes"),
        ("coalesce(missing, empty, sku)", "A-1"),
        ("missing or sku", "A-1"),
        ("sku == 'A-1' and days != 4", True),
        ("nothing == null", True),
        ("'10' == 10", True),
        ("concat(lower(sku), '/', upper('x'), missing)", "a-1/X"),
        ("replace(sku, '-', '')", "A1"),
        ("split('a;b;c', ';', 1)", "b"),
        ("split('a;b', ';')", ["a", "b"]),
        ("substring(sku, 2)", "1"),
        ("before(sku, '-')", "A"),
        ("after(sku, '-')", "1"),
        ("contains('Stainless Steel', 'STEEL')", True),
        ("join(tags, ', ')", "a, b"),
        ("first(tags)", "a"),
        ("last(tags)", "b"),
        ("count(tags)", Decimal(2)),
        ("max(prices[*].value)", Decimal(5)),
        ("round(10 / 3, 2)", Decimal("3.33")),
        ("floor(2.7) + ceil(2.1)", Decimal(5)),
        ("length(trim('  ab '))", Decimal(2)),
        ("addDays(today(), days)", date(2026, 11, 19)),
        ("date(seen, 'DD.MM.YYYY')", date(2026, 4, 3)),
        ("formatDate(date('2026-04-03T10:00'), 'YYYY/MM/DD')", "2026/04/03"),
        ("daysBetween(date(seen, 'DD.MM.YYYY'), '2026-04-10')", Decimal(7)),
        ("lookup('units', 'stk')", "piece"),
        ("lookup('units', 'kg', 'other')", "other"),
    ],
)
def test_values(text: str, expected: Any) -> None:
    assert value(text, {"units": {"Stk": "piece"}}) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("__import__('os')", "no function"),
        ("sku.__class__()", "not allowed"),
        ("open('/etc/passwd')", "no function"),
        ("lambda: 1", "not allowed"),
        ("[x for x in tags]", "not allowed"),
        ("sku; sku", "not allowed"),
        ("a = 1", "not allowed"),
        ("'open", "closing quote"),
        ("`open", "closing backquote"),
        ("upper()", "1 arguments"),
        ("lookup(sku, 'x')", "lookups"),
        ("lookup('nope', 'x')", "lookups"),
        ("(" * 40 + "1" + ")" * 40, "deep"),
        ("-" * 100 + "1", "deep"),
        ("1" * 31, "digits"),
        ("+".join(["1"] * 300), "parts"),
        ("x" * 2001, "characters"),
        ("2 **3", "not allowed"),
        ("sku[-1]", "position"),
        ("tags[1.5]", "position"),
        ("sku sku", "not allowed"),
        ("and", "not allowed"),
    ],
)
def test_what_is_refused_names_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ExpressionError, match=reason):
        compiled(text)


def test_growing_texts_and_numbers_end_with_an_error() -> None:
    doubled = "'" + "x" * 1000 + "'"
    for _ in range(5):
        doubled = f"replace({doubled}, 'x', 'xxxx')"
    with pytest.raises(ExpressionError, match="characters"):
        value(doubled)
    large = "*".join(["9" * 30] * 12)
    with pytest.raises(ExpressionError, match="arithmetic"):
        value(large)


def test_lists_are_cut() -> None:
    many = {"values": list(range(10_000))}
    found = evaluate(compiled("values[*]"), many, TODAY)
    assert len(found) == MAX_ELEMENTS


def test_nested_lists_do_not_multiply() -> None:
    many = {"a": [{"b": [{"c": list(range(1000))}] * 1000}] * 1000}
    with pytest.raises(ExpressionError, match="steps"):
        evaluate(compiled("a[*].b[*].c[*]"), many, TODAY)


NAMES = st.sampled_from(
    [*FUNCTIONS, "sku", "tags", "price", "eval", "exec", "__class__", "os", "getattr", "nothing"]
)
WORDS = st.one_of(
    NAMES,
    st.sampled_from([*list("()[].,+-*/%<>`'\"$@ "), "==", "!=", "[*]", "and", "or", "not", "null"]),
    st.integers(0, 10**12).map(str),
    st.text("abc\\'\"é\0{}", max_size=8).map(lambda text: f"'{text}'"),
)


class Untouchable:
    """An object whose attributes are watched."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__",):
            return object.__getattribute__(self, name)
        raise AssertionError(f"an expression reached {name}")


@settings(max_examples=600, deadline=None)
@given(st.lists(WORDS, max_size=60).map("".join) | st.lists(WORDS, max_size=60).map(" ".join))
def test_no_text_reaches_anything_or_takes_long(text: str) -> None:
    began = time.process_time()
    record = {**RECORD, "object": Untouchable()}
    try:
        node = compiled(text, {"units": {}})
        found = evaluate(node, record, TODAY, {"units": {}})
    except ExpressionError:
        found = None
    assert time.process_time() - began < 0.5
    assert _is_data(found), text


def _is_data(found: Any) -> bool:
    if isinstance(found, list):
        return len(found) <= MAX_ELEMENTS and all(map(_is_data, found))
    if isinstance(found, dict):
        return found is RECORD or "object" in found or all(map(_is_data, found.values()))
    if isinstance(found, str):
        return len(found) <= MAX_TEXT
    return found is None or isinstance(found, bool | int | Decimal | date)


@settings(max_examples=200, deadline=None)
@given(st.recursive(
    st.sampled_from(["sku", "prices[*].value", "'xxxxxxxxxx'", "7", "tags"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: f"concat({two[0]}, {two[1]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"replace({t[0]}, {t[1]}, {t[2]})"),
        st.tuples(inner, inner).map(lambda two: f"({two[0]} * {two[1]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"if({t[0]}, {t[1]}, {t[2]})"),
        inner.map(lambda one: f"split({one}, 'x')"),
        inner.map(lambda one: f"join({one}, 'xxxxxxxxxxxxxxxxxxxxxx')"),
    ),
    max_leaves=60,
))  # fmt: skip
def test_valid_expressions_end_in_bounded_time(text: str) -> None:
    began = time.process_time()
    try:
        found = value(text)
    except ExpressionError:
        return
    finally:
        assert time.process_time() - began < 0.5
    assert _is_data(found)
