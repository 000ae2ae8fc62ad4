"""Numbers as people write them: `1.234,56`, `1,234.56`, `1 234,5`, `1'234.50`, `(12)`, `12-`.

One separator followed by exactly three digits (`3.350`) is ambiguous. The column's style decides;
without one it is read in the usual way of its kind (money: thousands, measures: decimals), and the
other reading is returned as well.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from typing import Literal, NamedTuple

from penstock.catalog.values.result import EMPTY, NormalisedValue, Problem, problem, unreadable
from penstock.catalog.word_lists import load, words

DecimalStyle = Literal["comma", "point"]

MAX_LENGTH = 40
# Further decimals are rounding noise of binary fractions.
MAX_DECIMALS = 9

_PLAIN = re.compile(r"[0-9]{1,15}(?:\.(?:[0-9]{1,2}|[0-9]{4,9}))?")
_GROUPED = re.compile(
    r"[1-9][0-9]{0,2}(?:\.[0-9]{3}){1,4},[0-9]{2}|[1-9][0-9]{0,2}(?:,[0-9]{3}){1,4}\.[0-9]{2}"
)
_SPACES = re.compile("[\\s\u202f\u2007\u2009]+")
_BODY = re.compile(r"[.,]*+[0-9][0-9.,]*+")
_SCIENTIFIC = re.compile(r"([0-9]{1,3}(?:[.,][0-9]{1,17})?)[eE]([+-]?[0-9]{1,2})")
_OUT_OF = re.compile(r"\s{0,3}(?:von|out of|sur|de|su|van|stars?|sterne?)\s{0,3}")
# Invisible characters that numbers never contain.
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff"
_SIGNS = str.maketrans("−–—’`´‘٫٬⁄", "---''''.,/", _INVISIBLE)
_VULGAR = re.compile("(?<=[0-9])(?=[¼½¾⅐-⅞])")
# Characters that can be digits after normalisation; letters with accents and `€` cannot.
_MAYBE_DIGIT = re.compile("[^\\x00-\\u065f\\u2000-\\u20cf]")
_CHARACTER = {"comma": ",", "point": "."}
_PLACEHOLDERS = words(load("placeholders")["numbers"])
CELL_ERRORS = words(load("placeholders")["errors in numbers"])


class Number(NamedTuple):
    """``text`` is plain: an optional minus, digits, a point, digits. ``other`` is the second
    reading of an ambiguous number."""

    text: str
    other: str | None = None
    rule: str = "number"
    confidence: float = 1.0

    @property
    def decimal(self) -> Decimal:
        return Decimal(self.text)


# An apostrophe keeps a spreadsheet from reading what follows as a formula.
_PROTECTED = ("'=", "'+", "'-", "'@")


def without_formula(text: str) -> str:
    """`="0012"` and `'-1`, texts that were protected from a spreadsheet, without its marks."""
    first = text[:1]
    if first == "'":
        return text[1:] if text.startswith(_PROTECTED) else text
    if first != "=":
        return text
    return text[2:-1] if text.startswith('="') and text.endswith('"') and len(text) > 2 else text


def is_empty_cell(text: str) -> bool:
    """Whether the text is empty or a placeholder."""
    return not text or text.strip().casefold() in _PLACEHOLDERS or text.isspace()


def to_ascii(text: str) -> str:
    """Digits, dashes, apostrophes and spaces of other scripts as ASCII."""
    if text.isascii():
        return text
    # Without the space, 1½ would become 11/2.
    text = _VULGAR.sub(" ", text.translate(_SIGNS))
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS)
    if text.isascii() or _MAYBE_DIGIT.search(text) is None:
        return text
    return "".join(str(unicodedata.digit(c, c)) if c.isdigit() else c for c in text)


def read_number(
    text: str, style: DecimalStyle | None = None, *, three_are_decimals: bool = False
) -> Number | None:
    """The number, or None if the whole text is not one."""
    if _PLAIN.fullmatch(text):
        return Number(_canonical(text))
    if _GROUPED.fullmatch(text):
        head, tail = text[:-3], text[-2:]
        against = style is not None and _CHARACTER[style] != text[-3]
        plain_text = f"{head.replace('.', '').replace(',', '')}.{tail}"
        return Number(plain_text, confidence=0.8 if against else 1.0)
    if len(text) > MAX_LENGTH:
        return None
    body, negative = _unsigned(to_ascii(text).strip())
    read = _read_body(body, style, three_are_decimals)
    if read is None or not negative:
        return read
    other = None if read.other is None else _negated(read.other)
    return read._replace(text=_negated(read.text), other=other)


def _unsigned(text: str) -> tuple[str, bool]:
    """Accountants write the minus at the end (`12,50-`) or brackets."""
    if text.startswith("(") and text.endswith(")"):
        return text[1:-1].strip(), True
    if text.startswith("+"):
        return text[1:].lstrip(), False
    if text.startswith("-"):
        return text[1:].lstrip(), True
    if text.endswith("-"):
        head = text.rstrip("-").rstrip()
        # "12,-" and "12.--" are prices without cents, not negative ones.
        return (head.rstrip(".,"), False) if head.endswith((",", ".")) else (head, True)
    return text, False


def _negated(text: str) -> str:
    return text if text.strip("0.") == "" else "-" + text


def _read_body(body: str, style: DecimalStyle | None, three_are_decimals: bool) -> Number | None:
    grouped = _without_spaces(body) if " " in body or "'" in body or "_" in body else body
    if grouped is None or not _BODY.fullmatch(grouped):
        match = _SCIENTIFIC.fullmatch(body)
        if match is None:
            return None
        return Number(
            _expanded(match.group(1), int(match.group(2))), rule="scientific", confidence=0.8
        )
    commas, points = grouped.count(","), grouped.count(".")
    if commas and points:
        return _read_both(grouped, style)
    if commas + points == 0:
        return Number(_canonical(grouped))
    mark = "," if commas else "."
    if commas + points > 1:
        if _groups(grouped, mark):
            return Number(_canonical(grouped.replace(mark, "")))
        return _read_same_mark(grouped, mark)
    head, tail = grouped.split(mark)
    spaced = grouped is not body
    if len(tail) != 3 or len(head) > 3 or head.startswith("0") or not head or spaced:
        if len(tail) > MAX_DECIMALS:
            return Number(_without_noise(head, tail), rule="number_float_noise", confidence=0.9)
        against = style is not None and _CHARACTER[style] != mark and tail != ""
        return Number(_joined(head, tail), confidence=0.8 if against else 1.0)
    return _read_three(head, tail, mark, style, three_are_decimals)


def _read_same_mark(text: str, mark: str) -> Number | None:
    """`1.299.00`: the mark of the thousands is that of the cents as well."""
    head, _, tail = text.rpartition(mark)
    first, *rest = head.split(mark)
    if len(tail) != 2 or not 1 <= len(first) <= 3 or first[0] == "0":
        return None
    if not rest or any(len(part) != 3 for part in rest):
        return None
    return Number(_joined(head.replace(mark, ""), tail), rule="number_same_mark", confidence=0.8)


def _read_three(
    head: str, tail: str, mark: str, style: DecimalStyle | None, three_are_decimals: bool
) -> Number:
    thousands, decimals = head + tail, _joined(head, tail)
    if style is not None:
        return Number(decimals if _CHARACTER[style] == mark else thousands, rule="number_by_column")
    if three_are_decimals:
        return Number(decimals, thousands, "number_ambiguous", 0.5)
    return Number(thousands, decimals, "number_ambiguous", 0.5)


def _read_both(text: str, style: DecimalStyle | None) -> Number | None:
    """`1.234,56`: the last mark is the decimal mark, and occurs once."""
    mark = max(",.", key=text.rfind)
    other = "." if mark == "," else ","
    if text.count(mark) > 1:
        return None
    head, tail = text.split(mark)
    if not _groups(head, other):
        return None
    against = style is not None and _CHARACTER[style] != mark
    return Number(_joined(head.replace(other, ""), tail), confidence=0.8 if against else 1.0)


def _groups(text: str, mark: str) -> bool:
    """Thousands in threes, or in twos as in India: `12,34,567`."""
    first, *rest = text.split(mark)
    if not 1 <= len(first) <= 3 or not rest or len(rest[-1]) != 3:
        return False
    middle = {len(part) for part in rest[:-1]}
    return middle <= {3} or (middle <= {2} and mark == "," and len(first) <= 2)


def _without_spaces(body: str) -> str | None:
    """`1 234,50` without its spaces; None if they are not between thousands."""
    parts = _SPACES.sub(" ", body).replace("'", " ").replace("_", " ").split(" ")
    last = parts[-1]
    cut = next((i for i, c in enumerate(last) if c in ".,"), len(last))
    if not 1 <= len(parts[0]) <= 3 or cut != 3:
        return None
    if not all(len(part) == 3 and part.isdecimal() for part in parts[1:-1]):
        return None
    return "".join(parts) if parts[0].isdecimal() else None


def _joined(head: str, tail: str) -> str:
    head = head.lstrip("0") or "0"
    return f"{head}.{tail}" if tail else head


def _without_noise(head: str, tail: str) -> str:
    """`9.990000000000001` is 9.99 after a spreadsheet's arithmetic."""
    exact = Decimal(_joined(head, tail))
    return format(round(exact, 8).normalize(), "f")


def _canonical(text: str) -> str:
    if text[0] != "0":
        return text
    head, mark, tail = text.partition(".")
    return (head.lstrip("0") or "0") + mark + tail


def _expanded(mantissa: str, exponent: int) -> str:
    return format(Decimal(mantissa.replace(",", ".")).scaleb(exponent), "f")


def ambiguity(text: str, number: Number) -> tuple[Problem, ...]:
    if number.other is None:
        return ()
    return (problem("NUMBER_AMBIGUOUS", value=text, one=number.text, other=number.other),)


def plain(text: str) -> int | float:
    """A number for JSON; an int if it is whole."""
    if "." not in text:
        return int(text)
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 1e15 else value


# `1000pcs`: the unit of a count is ignored.
_PIECES = re.compile(
    r"(?<=\d)\s*(?:pcs?|pieces?|pce|ea|each|units?|st|stk|stck|stück|uds?|pz|pezzi|szt|ks|db|шт|"
    r"個|个|件|sets?|prs?|pairs?|paar|ctns?|cartons?)\.?$",
    re.IGNORECASE,
)


def read_count(text: str, style: DecimalStyle | None = None) -> NormalisedValue:
    """A whole number from zero up: a stock, a minimum order."""
    if text.isdecimal() and text.isascii() and len(text) < 16:
        return NormalisedValue(int(text), "number")
    if is_empty_cell(text):
        return EMPTY
    number = read_number(
        _PIECES.sub("", without_formula(text.strip()).lstrip("'").strip("<>=≥≤~+ ")), style
    )
    if number is None:
        return _not_a_number(text)
    value = number.decimal
    if value < 0:
        return unreadable("NUMBER_NEGATIVE", text)
    whole = int(value)
    problems = ambiguity(text, number)
    if whole != value:
        problems = (*problems, problem("NUMBER_ROUNDED", value=text, one=whole))
    return NormalisedValue(whole, number.rule, number.confidence, problems)


def read_tax_rate(text: str, style: DecimalStyle | None = None) -> NormalisedValue:
    """A rate in percent: `19`, `19 %`, `8,1%`; `0.19` without a percent sign is 19 percent."""
    body = text.strip()
    if is_empty_cell(body):
        return EMPTY
    number = read_number(body.rstrip("% ").strip(), style, three_are_decimals=True)
    if number is None:
        return _not_a_number(text)
    rate = number.decimal
    if 0 < rate < 1 and "%" not in body:
        rate *= 100
    if not 0 <= rate <= 100:
        return unreadable("NUMBER_OUT_OF_RANGE", text, low=0, high=100)
    return NormalisedValue(plain(format(rate.normalize(), "f")), "tax_rate", number.confidence)


def read_rating(text: str, style: DecimalStyle | None = None) -> NormalisedValue:
    """Stars from 0 to 5; `4,5/5`, `9/10` and `90%` are scaled."""
    if is_empty_cell(text):
        return EMPTY
    score, scale = _score_and_scale(text.strip())
    number = read_number(score, style, three_are_decimals=True)
    if number is None:
        return _not_a_number(text)
    top = read_number(scale) if scale else Number("5")
    if top is None or top.decimal <= 0:
        return _not_a_number(text)
    value = number.decimal * 5 / top.decimal
    if not 0 <= value <= 5:
        return unreadable("NUMBER_OUT_OF_RANGE", text, low=0, high=5)
    return NormalisedValue(round(float(value), 2), "rating", number.confidence)


def _score_and_scale(text: str) -> tuple[str, str]:
    if text.endswith("%"):
        return text[:-1].strip(), "100"
    if "★" in text or "☆" in text:
        return str(text.count("★")), ""
    score, _, scale = _OUT_OF.sub("/", text.casefold()).partition("/")
    return score.strip(), scale.strip()


def _not_a_number(text: str) -> NormalisedValue:
    code = "CELL_ERROR" if text.strip().casefold() in CELL_ERRORS else "NUMBER_UNREADABLE"
    return unreadable(code, text)
