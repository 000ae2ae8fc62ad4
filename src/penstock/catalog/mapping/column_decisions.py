"""Turn column statistics into one decision per column, with notes about what is ambiguous."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.catalog.mapping.column_stats import ColumnStats, decimal_style
from penstock.catalog.values.currencies import currency_of, is_shared
from penstock.catalog.values.dates import DateOrder
from penstock.catalog.values.numbers import DecimalStyle


@dataclass(frozen=True, slots=True)
class ColumnDecision:
    """How the cells of one column are read. ``notes`` are for people; ``said`` quotes the text
    outside the table that the currency was taken from."""

    decimal: DecimalStyle | None = None
    dates: DateOrder | None = None
    currency: str | None = None
    notes: tuple[str, ...] = ()
    tax_included: bool | None = None
    said: str | None = None
    unit: str | None = None

    def as_json(self) -> dict[str, Any]:
        shown = {
            "decimal": self.decimal, "dates": self.dates, "currency": self.currency,
            "taxIncluded": self.tax_included, "said": self.said, "unit": self.unit,
        }  # fmt: skip
        return {name: value for name, value in shown.items() if value is not None} | (
            {"notes": list(self.notes)} if self.notes else {}
        )

    @staticmethod
    def from_json(kept: Mapping[str, Any]) -> ColumnDecision:
        return ColumnDecision(
            kept.get("decimal"),
            kept.get("dates"),
            kept.get("currency"),
            tuple(kept.get("notes", ())),
            kept.get("taxIncluded"),
            kept.get("said"),
            kept.get("unit"),
        )


UNDECIDED = ColumnDecision()


def decide(
    stats: Sequence[ColumnStats], currency: str | None = None, likely: str | None = None
) -> list[ColumnDecision]:
    """One decision per column. A column without evidence of its own follows the rest of the file;
    ``currency`` decides symbols that several currencies share, else ``likely``, with a note."""
    totals: Counter[str] = Counter()
    for column in stats:
        style, how = decimal_style(column.marks)
        if style is not None and how == "clear" and not _is_dates(column):
            totals[style] += 1
    # The rest of the file decides only if all its columns agree.
    whole: DecimalStyle | None = None
    if len(totals) == 1:
        whole = "comma" if "comma" in totals else "point"
    return [_decide(column, whole, currency, likely) for column in stats]


def _is_dates(column: ColumnStats) -> bool:
    marks = column.marks
    return (
        marks["day_first"] + marks["month_first"] + marks["date?"]
        > sum(marks[name] for name in ("comma", "point", "comma?", "point?", "whole")) // 2
    )


def _decide(
    column: ColumnStats, whole: DecimalStyle | None, currency: str | None, likely: str | None
) -> ColumnDecision:
    notes: list[str] = []
    style, how = decimal_style(column.marks)
    if how == "ambiguous" and not _is_dates(column):
        if whole is not None:
            style = whole
            notes.append(f"Numbers like 3.350 follow the other columns: decimal {whole}")
        else:
            notes.append("Numbers like 3.350 are ambiguous in this column: set `decimal`")
    elif how == "mixed":
        notes.append("Decimal commas and points are mixed: each number is read by itself")
    elif how == "leaning":
        notes.append(f"Nearly all numbers have a decimal {style}; those that do not are checked")
    order = _order(column, notes)
    return ColumnDecision(style, order, _currency(column, currency, likely, notes), tuple(notes))


def _order(column: ColumnStats, notes: list[str]) -> DateOrder | None:
    day, month = column.marks["day_first"], column.marks["month_first"]
    if day and not month:
        return "dmy"
    if month and not day:
        return "mdy"
    if day and month:
        notes.append("Dates begin with the day in some cells and with the month in others")
    elif column.marks["date?"]:
        notes.append("Dates like 03/04/2026 are ambiguous in this column: set `dates`")
    return None


def _currency_of_yen_sign(token: str, column: ColumnStats) -> str | None:
    """Yen have no decimals: with decimals, `¥` means yuan."""
    return "CNY" if token in ("¥", "￥") and column.marks["point"] else None


def _currency(
    column: ColumnStats, default: str | None, likely: str | None, notes: list[str]
) -> str | None:
    """The only currency named in the column, which then applies to cells that name none."""
    named: set[str] = set()
    for token in column.currencies:
        found = currency_of(token, default or likely or _currency_of_yen_sign(token, column))
        if found is not None:
            named.add(found.currency)
            if is_shared(token) and found.currency != default:
                notes.append(
                    f"{token} is read as {found.currency}: set `currency` if it is another"
                )
    if len(named) > 1:
        notes.append("Several currencies: " + ", ".join(sorted(named)))
    return named.pop() if len(named) == 1 else None
