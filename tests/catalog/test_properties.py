"""What must hold for every text, not only for those someone thought of."""

from __future__ import annotations

import time
from datetime import date
from decimal import Decimal

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penstock.catalog.fields import MAPPED
from penstock.catalog.mapping.column_stats import ColumnStats
from penstock.catalog.mapping.proposal import fingerprint, propose
from penstock.catalog.problem_codes import CODES
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import compile_plan
from penstock.catalog.products.validate import compile_validator
from penstock.catalog.profiles.profile import ColumnRule, Profile
from penstock.catalog.values.currencies import Rates, format_amount, places, rates_on
from penstock.catalog.values.gtin import check_digit, is_valid, read_gtin
from penstock.catalog.values.numbers import DecimalStyle, read_number
from penstock.catalog.values.prices import PriceStyle, read_price
from penstock.catalog.values.readers import REPEATING, Style, reader

KINDS = sorted(REPEATING | {"line", "text", "identifier", "gtin", "datetime", "url", "images"})
STYLES = (Style(), Style("comma", "dmy", "EUR", "kg"), Style("point", "mdy", "USD", "cm", True))

# Text that looks like cells, mixed with any text at all.
PIECES = st.sampled_from(
    [*"0123456789.,-+/:;|x×€$£%()<>&\"'#=@ \n\t\u00a0\u202f", "kg", "ab", "EUR", "in stock", "E+12",
     "http://", "MwSt", "St", "Tage", "März", "²", "½", "٣", "\ud800", "\x00", "Ø", "1.234,56"]
)  # fmt: skip
TEXTS = st.one_of(
    st.lists(PIECES, max_size=25).map("".join),
    st.text(st.characters(), max_size=60),
)
# Cells as they come out of a database: UTF-8, no NUL.
CELLS = TEXTS.map(lambda text: text.encode("utf-8", "ignore").decode().replace("\x00", ""))
AMOUNTS = st.decimals(min_value=0, max_value=10**9, places=2, allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=250, deadline=None)
@given(text=TEXTS)
@example("")
@example(" ")
@example("٣٫٥")
@example("0" * 500)
def test_no_text_makes_a_reader_fail(kind: str, text: str) -> None:
    for style in STYLES:
        found = reader(kind, style)(text)
        assert 0 <= found.confidence <= 1
        assert found.rule
        for problem in found.problems:
            assert problem.code in CODES
            assert problem.message


@settings(max_examples=150, deadline=None)
@given(cells=st.lists(CELLS, max_size=len(MAPPED) + 2))
def test_no_row_makes_normalising_fail_and_every_product_is_json(cells: list[str]) -> None:
    row = normalise(PLAN, cells)
    assert VALIDATOR.check(row, cells) in ("valid", "invalid", "discarded")
    text = orjson.dumps({"product": row.product, "lineage": row.lineage})
    assert orjson.loads(text)["product"] == row.product
    # A real NUL, which PostgreSQL refuses; a cell may well spell the escape out.
    assert b"\\u0000" not in text.replace(b"\\\\", b"")
    for problem in row.problems:
        assert problem.severity in ("error", "warning")


PLAN = compile_plan(MAPPED, Profile("all", columns={name: ColumnRule(name) for name in MAPPED}))
VALIDATOR = compile_validator(PLAN)


def written(amount: Decimal, style: DecimalStyle, grouped: bool) -> str:
    text = f"{amount:,.2f}" if grouped else f"{amount:.2f}"
    return text if style == "point" else text.translate(str.maketrans(",.", ".,"))


@given(amount=AMOUNTS, style=st.sampled_from(["comma", "point"]), grouped=st.booleans())
def test_amounts_survive_being_written(amount: Decimal, style: DecimalStyle, grouped: bool) -> None:
    """With two decimals no style is needed to read what was written in either."""
    text = written(amount, style, grouped)
    for known in (None, style):
        number = read_number(text, known)
        assert number is not None
        assert number.decimal == amount
        assert number.other is None


@given(amount=AMOUNTS, currency=st.sampled_from(["EUR", "USD", "JPY", "KWD", "CHF"]))
def test_a_clean_price_is_read_as_itself(amount: Decimal, currency: str) -> None:
    text = format_amount(f"{amount:f}", places(currency))
    found = read_price(text, PriceStyle("point", currency))
    assert found.value.amount == text
    assert found.problems == ()
    again = read_price(f"{text} {currency}", PriceStyle("point"))
    assert again.value == found.value


@given(number=st.integers(0, 10**12 - 1))
def test_every_number_has_one_right_check_digit(number: int) -> None:
    body = f"{number:012}"
    valid = [digit for digit in "0123456789" if is_valid(body + digit)]
    assert valid == [check_digit(body)]


@given(number=st.integers(10**9, 10**10 - 1))
def test_lost_zeros_come_back_and_are_told(number: int) -> None:
    """A UPC of ten significant digits, as a spreadsheet leaves it."""
    upc = f"0{number}"
    upc += check_digit(upc)
    assert read_gtin(upc).value == upc
    found = read_gtin(upc.lstrip("0"))
    assert found.value == upc
    assert {problem.code for problem in found.problems} >= {"GTIN_REPAIRED"}


@given(left=st.lists(CELLS, max_size=30), right=st.lists(CELLS, max_size=30), more=st.lists(CELLS))
def test_statistics_merge_in_any_order(left: list[str], right: list[str], more: list[str]) -> None:
    def gathered(*batches: list[str]) -> ColumnStats:
        total = ColumnStats()
        for batch in batches:
            part = ColumnStats()
            part.add(batch)
            total.merge(ColumnStats.from_json(orjson.loads(orjson.dumps(part.as_json()))))
        return total

    one, other = gathered(left, right, more), gathered(more, left, right)
    for name in ("cells", "filled", "longest", "marks", "hashes"):
        assert getattr(one, name) == getattr(other, name)


@given(header=st.lists(st.text(max_size=30), max_size=12))
@settings(max_examples=60, deadline=None)
def test_no_target_is_given_twice(header: list[str]) -> None:
    targets = [c.target for c in propose(header).columns if c.target is not None]
    assert len(targets) == len(set(targets))
    assert fingerprint(header) == fingerprint(list(reversed(header)))


@given(amount=AMOUNTS, rate=st.decimals(min_value="0.0001", max_value=1000, places=4))
def test_base_amounts_are_exact_but_for_rounding(amount: Decimal, rate: Decimal) -> None:
    day = date(2026, 11, 1)
    rates: Rates = rates_on(day, "USD", [(day, "EUR", rate)])
    base = rates.convert(format_amount(f"{amount:f}", 2), "EUR")
    assert base is not None
    assert abs(Decimal(base["amount"]) - amount * rate) <= Decimal("0.00005")


HOSTILE = [
    "1" * 40_000, "1," * 20_000, "1 " * 20_000, "<" * 40_000, "<a" * 20_000, "<!--" * 10_000,
    "&amp;" * 8_000, "&" * 40_000, " " * 40_000, ", " * 20_000, "/" * 40_000, "> " * 20_000,
    "http://" * 6_000, "(" * 40_000, "a" * 40_000, "ab 1 " * 8_000, "1x" * 20_000, "-" * 40_000,
    "1+ 9.90; " * 4_000, "€" * 40_000, "\n" * 40_000, "é" * 40_000, "." * 40_000, "0.0" * 13_000,
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_time_is_linear_in_the_length_of_the_text(kind: str) -> None:
    """40 KB of the worst takes no reader longer than a moment; a square would take minutes."""
    read = reader(kind, Style("comma", "dmy", "EUR", "kg"))
    for text in HOSTILE:
        started = time.process_time()
        read(text)
        assert time.process_time() - started < 0.5, (kind, text[:10])
