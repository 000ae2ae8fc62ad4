"""The functions of expressions. Each takes evaluated arguments; nothing in, nothing out.

`FUNCTIONS` is the whole set: name, number of arguments, description. `if`, `coalesce` and `default`
are evaluated lazily by `evaluate`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Any

from penstock.model.sources.expressions.tokens import ExpressionError
from penstock.model.sources.expressions.values import (
    MAX_ELEMENTS,
    NUMBERS,
    Budget,
    number_of,
    text_of,
    truth_of,
)

Work = Callable[[Budget, Sequence[Any]], Any]
_DATE_PARTS = re.compile(r"YYYY|YY|MM|DD")
_PART_PATTERNS = {"YYYY": r"(\d{4})", "YY": r"(\d{2})", "MM": r"(\d{1,2})", "DD": r"(\d{1,2})"}
_MAX_PATTERN = 40
_MAX_DAYS = 36_600


@dataclass(frozen=True, slots=True)
class FunctionRule:
    least: int
    most: int
    work: Work | None
    description: str


def _text(budget: Budget, value: Any) -> str | None:
    text = text_of(value)
    if text is not None:
        budget.take(len(text))
    return text


def _on_text(change: Callable[[str], Any]) -> Work:
    def work(budget: Budget, given: Sequence[Any]) -> Any:
        text = _text(budget, given[0])
        return None if text is None else change(text)

    return work


def _concat(budget: Budget, given: Sequence[Any]) -> str | None:
    parts = [text for one in given if (text := _text(budget, one)) is not None]
    budget.fits(sum(map(len, parts)))
    return "".join(parts) if parts else None


def _replace(budget: Budget, given: Sequence[Any]) -> str | None:
    text, old, new = (_text(budget, one) for one in given)
    if text is None or not old:
        return text
    new = new or ""
    budget.fits(len(text) + max(0, len(new) - len(old)) * text.count(old))
    return text.replace(old, new)


def _split(budget: Budget, given: Sequence[Any]) -> Any:
    text, mark = _text(budget, given[0]), _text(budget, given[1])
    if text is None:
        return None
    parts = text.split(mark, MAX_ELEMENTS - 1) if mark else text.split(None, MAX_ELEMENTS - 1)
    if len(given) == 2:
        return [part.strip() for part in parts]
    place = _whole(given[2])
    return parts[place].strip() if place is not None and 0 <= place < len(parts) else None


def _substring(budget: Budget, given: Sequence[Any]) -> str | None:
    text, start = _text(budget, given[0]), _whole(given[1])
    if text is None or start is None:
        return None
    length = _whole(given[2]) if len(given) > 2 else len(text)
    return text[max(0, start) : max(0, start) + max(0, length or 0)]


def _part(keep: Callable[[str, str], str]) -> Work:
    def work(budget: Budget, given: Sequence[Any]) -> str | None:
        text, mark = _text(budget, given[0]), _text(budget, given[1])
        return None if text is None or not mark else keep(text, mark)

    return work


def _compare(test: Callable[[str, str], bool]) -> Work:
    def work(budget: Budget, given: Sequence[Any]) -> bool:
        text, other = _text(budget, given[0]), _text(budget, given[1])
        return text is not None and other is not None and test(text.casefold(), other.casefold())

    return work


def _join(budget: Budget, given: Sequence[Any]) -> str | None:
    values = given[0] if isinstance(given[0], list) else [given[0]]
    mark = _text(budget, given[1]) or ""
    parts = [text for one in values[:MAX_ELEMENTS] if (text := _text(budget, one))]
    budget.fits(sum(map(len, parts)) + len(mark) * len(parts))
    return mark.join(parts) if parts else None


def _number(budget: Budget, given: Sequence[Any]) -> Decimal | None:
    if len(given) == 1:
        return number_of(given[0])
    text, style = _text(budget, given[0]), _text(budget, given[1])
    if style not in ("comma", "point"):
        raise ExpressionError("number: the second argument is 'comma' or 'point'")
    if text is None:
        return None
    kept = "".join(one for one in text if one in "0123456789+-,.")
    thousands = "." if style == "comma" else ","
    return number_of(kept.replace(thousands, "").replace(",", "."))


def _rounded(how: str) -> Work:
    def work(budget: Budget, given: Sequence[Any]) -> Decimal | None:
        value = number_of(given[0])
        places = _whole(given[1]) if len(given) > 1 else 0
        if value is None or places is None:
            return None
        if not -20 <= places <= 20:
            raise ExpressionError("round: between -20 and 20 decimal places")
        return value.quantize(Decimal(1).scaleb(-places), how, NUMBERS)

    return work


def _extreme(choose: Callable[[list[Decimal]], Decimal]) -> Work:
    def work(budget: Budget, given: Sequence[Any]) -> Decimal | None:
        values = given[0] if len(given) == 1 and isinstance(given[0], list) else given
        numbers = [found for one in values[:MAX_ELEMENTS] if (found := number_of(one)) is not None]
        return choose(numbers) if numbers else None

    return work


def _whole(value: Any) -> int | None:
    number = number_of(value)
    return None if number is None or abs(number) > 10**6 else int(number)


def _element(place: Callable[[list[Any]], Any]) -> Work:
    def work(budget: Budget, given: Sequence[Any]) -> Any:
        values = given[0] if isinstance(given[0], list) else [given[0]]
        return place(values) if values else None

    return work


def _count(budget: Budget, given: Sequence[Any]) -> Decimal:
    if isinstance(given[0], list):
        return Decimal(len(given[0]))
    return Decimal(0 if given[0] is None else 1)


def _lookup(budget: Budget, given: Sequence[Any]) -> Any:
    name, key = _text(budget, given[0]), _text(budget, given[1])
    table = budget.lookups.get(name or "")
    if table is None:
        raise ExpressionError(f"there is no lookup {str(name)[:40]!r}")
    if key is not None and key in table:
        return table[key]
    folded = None if key is None else key.strip().casefold()
    for known, value in table.items():
        if folded == known.casefold():
            return value
    return given[2] if len(given) > 2 else None


def date_of(value: Any) -> date | None:
    """A date, or the beginning of an ISO time."""
    if isinstance(value, date):
        return value
    text = text_of(value)
    try:
        return None if text is None else date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None


def _date(budget: Budget, given: Sequence[Any]) -> date | None:
    if len(given) == 1:
        return date_of(given[0])
    text, pattern = _text(budget, given[0]), _text(budget, given[1])
    if text is None or pattern is None:
        return None
    if len(pattern) > _MAX_PATTERN:
        raise ExpressionError("date: the pattern is too long")
    names = _DATE_PARTS.findall(pattern)
    literal = _DATE_PARTS.split(pattern)
    shape = re.escape(literal[0]) + "".join(
        _PART_PATTERNS[name] + re.escape(rest)
        for name, rest in zip(names, literal[1:], strict=True)
    )
    found = re.match(shape, text.strip())
    if found is None:
        return None
    parts = {name[:1]: int(told) for name, told in zip(names, found.groups(), strict=True)}
    year = parts.get("Y", budget.today.year)
    try:
        return date(year + 2000 if "YYYY" not in names and "YY" in names else year,
                    parts.get("M", 1), parts.get("D", 1))  # fmt: skip
    except ValueError:
        return None


def _add_days(budget: Budget, given: Sequence[Any]) -> date | None:
    day, days = date_of(given[0]), _whole(given[1])
    if day is None or days is None:
        return None
    if abs(days) > _MAX_DAYS:
        raise ExpressionError(f"addDays: at most {_MAX_DAYS:,} days")
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def _days_between(budget: Budget, given: Sequence[Any]) -> Decimal | None:
    first, second = date_of(given[0]), date_of(given[1])
    return None if first is None or second is None else Decimal((second - first).days)


def _format_date(budget: Budget, given: Sequence[Any]) -> str | None:
    day, pattern = date_of(given[0]), _text(budget, given[1])
    if day is None or pattern is None:
        return None
    told = {"YYYY": f"{day.year:04}", "YY": f"{day.year % 100:02}", "MM": f"{day.month:02}",
            "DD": f"{day.day:02}"}  # fmt: skip
    return _DATE_PARTS.sub(lambda part: told[part[0]], pattern[:_MAX_PATTERN])


FUNCTIONS: dict[str, FunctionRule] = {
    # Logic
    "if": FunctionRule(2, 3, None, "if(test, then, else): one of two values"),
    "coalesce": FunctionRule(1, 20, None, "the first value that is there"),
    "exists": FunctionRule(1, 1, lambda _, given: given[0] is not None, "whether it is there"),
    "lookup": FunctionRule(2, 3, _lookup, "lookup('table', key, otherwise): a value of a table"),
    # Text
    "text": FunctionRule(1, 1, _on_text(lambda text: text), "the value as text"),
    "lower": FunctionRule(1, 1, _on_text(str.lower), "in small letters"),
    "upper": FunctionRule(1, 1, _on_text(str.upper), "in capital letters"),
    "trim": FunctionRule(1, 1, _on_text(str.strip), "without spaces around it"),
    "length": FunctionRule(1, 1, _on_text(lambda text: Decimal(len(text))), "its characters"),
    "concat": FunctionRule(1, 20, _concat, "texts joined; missing ones are left out"),
    "replace": FunctionRule(3, 3, _replace, "replace(text, old, new)"),
    "split": FunctionRule(2, 3, _split, "split(text, mark, place): a part, counted from 0, or all"),
    "substring": FunctionRule(2, 3, _substring, "substring(text, start, length), from 0"),
    "before": FunctionRule(
        2, 2, _part(lambda text, mark: text.partition(mark)[0].strip()), "before the first mark"
    ),
    "after": FunctionRule(
        2, 2, _part(lambda text, mark: text.partition(mark)[2].strip()), "after the first mark"
    ),
    "contains": FunctionRule(2, 2, _compare(lambda a, b: b in a), "ignoring case"),
    "startsWith": FunctionRule(2, 2, _compare(str.startswith), "ignoring case"),
    "endsWith": FunctionRule(2, 2, _compare(str.endswith), "ignoring case"),
    "join": FunctionRule(2, 2, _join, "join(list, mark): the texts of a list"),
    # Numbers
    "number": FunctionRule(1, 2, _number, "number(text, 'comma'): read a number"),
    "round": FunctionRule(1, 2, _rounded(ROUND_HALF_UP), "round(number, places)"),
    "floor": FunctionRule(1, 1, _rounded(ROUND_FLOOR), "the whole number below"),
    "ceil": FunctionRule(1, 1, _rounded(ROUND_CEILING), "the whole number above"),
    "abs": FunctionRule(
        1, 1, lambda _, given: None if (n := number_of(given[0])) is None else abs(n), "no sign"
    ),
    "min": FunctionRule(1, 20, _extreme(min), "the least of numbers or of a list"),
    "max": FunctionRule(1, 20, _extreme(max), "the largest of numbers or of a list"),
    # Lists
    "first": FunctionRule(1, 1, _element(lambda values: values[0]), "the first element"),
    "last": FunctionRule(1, 1, _element(lambda values: values[-1]), "the last element"),
    "count": FunctionRule(1, 1, _count, "how many elements"),
    # Dates
    "today": FunctionRule(0, 0, lambda budget, _: budget.today, "the current day, in UTC"),
    "date": FunctionRule(1, 2, _date, "date(text, 'DD.MM.YYYY'): read a date; else ISO"),
    "addDays": FunctionRule(2, 2, _add_days, "addDays(date, days)"),
    "daysBetween": FunctionRule(2, 2, _days_between, "daysBetween(from, to)"),
    "formatDate": FunctionRule(2, 2, _format_date, "formatDate(date, 'YYYY-MM-DD')"),
    "not": FunctionRule(1, 1, lambda _, given: not truth_of(given[0]), "the opposite"),
}
