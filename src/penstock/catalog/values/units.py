"""Units of sale and measure, and pack sizes: `6 x 330 ml`, `2 St`, `12 pcs`, `1,5 kg`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from math import gcd

from penstock.catalog.values.numbers import (
    DecimalStyle,
    ambiguity,
    is_empty_cell,
    plain,
    read_number,
    to_ascii,
)
from penstock.catalog.values.result import EMPTY, NormalisedValue, Problem, problem, unreadable
from penstock.catalog.values.text import tidy_line
from penstock.catalog.values.unit_names import FACTORS, FINNISH, KINDS, WORDS

MAX_LENGTH = 120

# Unambiguous numbers.
_BARE = re.compile(r"[0-9]{1,9}(?:[.,][0-9]{1,2})?|0[.,][0-9]{3}")

_THREE = {
    "comma": re.compile(r"[0-9]{1,3},[0-9]{3}"),
    "point": re.compile(r"[0-9]{1,3}\.[0-9]{3}"),
}

_NUMBER = r"[0-9][0-9.,]{0,11}|[.,][0-9]{1,6}"
_WORD = r"[^\W\d_]{1,16}[.²³23]?"
_APPROXIMATELY = re.compile(r"^(?:ca|circa|approx|about|env|environ|aprox|~)\.?\s{0,2}", re.I)
_TIMES = r"\s{0,3}[xX×*]\s{0,3}"
_MEASURE = re.compile(
    rf"(?P<number>[-+]?(?:{_NUMBER}))\s{{0,3}}(?P<unit>{_WORD}|[\"″'′%]{{1,2}}|fl\.? ?oz\.?)?"
)
_FRACTION = re.compile(r"(?<![0-9.,/])(?:([0-9]{1,4})[ -])?([0-9]{1,2})/([0-9]{1,2})(?![0-9.,/])")
_PART = re.compile(
    rf"(?P<number>{_NUMBER})\s{{0,2}}(?P<unit>fl\.? ?oz\.?|[^\W\d_]{{1,16}}\.?|[\"″'′]{{1,2}})?"
)
_AROUND = re.compile(
    r"(?<![^\W_])(?:net|nett|netto|gross|brutto|bruto|neto|lordo|brut|ca|circa|approx|about|each)"
    r"(?![^\W_])\.?|^[~<≈]=?",
    re.I,
)
_PARTS = frozenset((2, 3, 4, 5, 6, 8, 12, 16, 32, 64))
_AND = frozenset(("", "and", "und", "et", "y", "e", "en", "+", "&"))
_MULTIPLE = re.compile(
    rf"(?P<count>[0-9]{{1,6}})\s{{0,2}}(?P<outer>{_WORD})?{_TIMES}"
    rf"(?:(?P<inner>[0-9]{{1,6}}){_TIMES})?(?P<size>{_NUMBER})"
    rf"\s{{0,3}}(?P<unit>{_WORD}|fl\.? ?oz\.?)"
)
_OF = re.compile(
    rf"(?P<count>[0-9]{{1,6}})\s{{0,2}}(?P<outer>{_WORD})"
    rf"\s{{0,2}}(?:à|a|je|of|de|di|von|van|per|@)\s{{0,2}}"
    rf"(?P<size>{_NUMBER})\s{{0,3}}(?P<unit>{_WORD})"
)
_PACK_OF = re.compile(
    rf"(?P<outer>{_WORD})\s{{0,2}}(?:of|mit|à|a|de|von|van|da|di|x|[:=(])?"
    rf"\s{{0,2}}(?P<count>[0-9]{{1,6}})"
    rf"\s{{0,2}}(?P<unit>{_WORD})?\)?"
)
_N_PACK = re.compile(
    r"(?P<count>[0-9]{1,5})(?:\s{0,2}-\s{0,2}|er[ -]?|['’]?[sS](?:\s|$)|\s{1,2})"
    r"(?P<outer>[^\W\d_]{2,16})?"
)


@dataclass(frozen=True, slots=True)
class Pack:
    """``count`` things of ``size`` ``unit`` each; ``size`` is None for mere counts."""

    count: int
    size: str | None
    unit: str

    def total(self) -> tuple[Decimal, str]:
        """The total in the base unit of price comparison: kg, l, m, m2, piece."""
        kind = KINDS[self.unit]
        amount = Decimal(self.size or "1") * self.count * FACTORS[self.unit]
        return amount, _BASE_UNITS[kind]

    def as_json(self) -> dict[str, object]:
        amount, unit = self.total()
        shown: dict[str, object] = {"count": self.count, "unit": self.unit}
        if self.size is not None:
            shown["size"] = plain(self.size)
        shown["total"] = plain(format(amount, "f"))
        shown["totalUnit"] = unit
        return shown


_BASE_UNITS = {
    "mass": "kg", "volume": "l", "length": "m", "area": "m2", "count": "piece", "time": "h",
    "package": "piece",
}  # fmt: skip


def unit_of(word: str) -> str | None:
    """The canonical name of a unit, by any of its names, or None."""
    return WORDS.get(word.strip()) or WORDS.get(_plain_word(word))


def _plain_word(word: str) -> str:
    low = to_ascii(word.strip()).casefold().rstrip(". ")
    return low[1:-1] if low.startswith("(") and low.endswith(")") else low


def read_unit(text: str) -> NormalisedValue:
    """A cell of a unit column: `kg`, `Stück`, `PCE`, `100 g`."""
    if is_empty_cell(text):
        return EMPTY
    unit = unit_of(text)
    if unit is not None:
        return NormalisedValue(unit, "unit")
    plain_text = to_ascii(text.strip())[:40]
    if plain_text.isdecimal() and len(plain_text) < 7 and int(plain_text):
        # The number of pieces that a price is for, as in merchandise systems.
        count = int(plain_text)
        return NormalisedValue("piece" if count == 1 else f"{count} piece", "unit_of_pieces", 0.9)
    match = _MEASURE.fullmatch(plain_text)
    if match is not None and match["unit"]:
        unit, number = unit_of(match["unit"]), read_number(match["number"])
        if unit is not None and number is not None:
            return NormalisedValue(unit if number.text == "1" else f"{number.text} {unit}", "unit")
    kept = tidy_line(text[:80])[:40]
    if not kept:
        return EMPTY
    return NormalisedValue(kept, "as_written", 0.5, (problem("UNIT_UNKNOWN", value=kept),))


def read_finnish_unit(text: str) -> NormalisedValue:
    """A cell of a unit column with a Finnish name."""
    unit = FINNISH.get(text.strip(" .").casefold())
    return read_unit(text) if unit is None else NormalisedValue(unit, "unit")


def read_measure(
    text: str, kind: str, default_unit: str | None, style: DecimalStyle | None = None
) -> NormalisedValue:
    """A weight or a length: `{value, unit}`, with the canonical name of the given unit."""
    if default_unit is not None and (
        _BARE.fullmatch(text) or (style is not None and _THREE[style].fullmatch(text))
    ):
        value = {"value": plain(text.replace(",", ".")), "unit": default_unit}
        return NormalisedValue(value, "measure_default_unit")
    if is_empty_cell(text):
        return EMPTY
    parsed = split_measure(text)
    number_text, word = parsed or ("", "")
    number = read_number(number_text, style, three_are_decimals=True)
    if number is None or (word and unit_of(word) is None):
        read = _read_compound(text, kind, default_unit, style)
        return read or unreadable("MEASURE_UNREADABLE", text)
    if number.text.startswith("-"):
        return unreadable("NUMBER_NEGATIVE", text)
    unit = unit_of(word) if word else default_unit
    problems: tuple[Problem, ...] = ambiguity(text, number)
    if unit is None:
        problems = (*problems, problem("UNIT_MISSING", value=text))
        return NormalisedValue({"value": plain(number.text)}, "measure", 0.5, problems)
    if KINDS[unit] != kind:
        return unreadable("MEASURE_UNREADABLE", text)
    rule = "measure" if word else "measure_default_unit"
    measure = {"value": plain(number.text), "unit": unit}
    return NormalisedValue(measure, rule, number.confidence, problems)


def _read_compound(
    text: str, kind: str, default_unit: str | None, style: DecimalStyle | None
) -> NormalisedValue | None:
    """`1 lb 4 oz` is a sum, `500 g (1.1 lb)` one weight in two units; fractions are allowed."""
    body = with_fractions(_AROUND.sub(" ", to_ascii(text[:MAX_LENGTH]))).strip()
    parts = list(_PART.finditer(body))
    between = _PART.sub("", body).strip()
    if not parts or between.strip("/=|(),;~ ").casefold() not in _AND:
        return None
    amounts = []
    for part in parts:
        number = read_number(part["number"], style, three_are_decimals=True)
        unit = unit_of(part["unit"]) if part["unit"] else default_unit
        if number is None or unit is None or KINDS[unit] != kind:
            return None
        amounts.append((number.decimal, unit))
    if len(amounts) > 1 and any(mark in between for mark in "/=|("):
        return _one_in_several_units(amounts)
    return _summed(amounts)


def _one_in_several_units(amounts: list[tuple[Decimal, str]]) -> NormalisedValue | None:
    """One measure in several units, equal up to rounding."""
    sizes = [amount * FACTORS[unit] for amount, unit in amounts]
    if max(sizes) > min(sizes) * Decimal("1.03"):
        return None
    amount, unit = amounts[0]
    return NormalisedValue(
        {"value": plain(format(amount, "f")), "unit": unit}, "measure_twice", 0.9
    )


def _summed(amounts: list[tuple[Decimal, str]]) -> NormalisedValue | None:
    """The sum in the first unit if that is exact, else in the last and smallest."""
    factors = [FACTORS[unit] for _, unit in amounts]
    if factors != sorted(set(factors), reverse=True):
        return None
    total = sum(amount * FACTORS[unit] for amount, unit in amounts)
    first, last = amounts[0][1], amounts[-1][1]
    exact = (total / FACTORS[first]).normalize()
    unit = first if round(exact, 4) == exact or len(amounts) == 1 else last
    value = round(total / FACTORS[unit], 6).normalize()
    return NormalisedValue(
        {"value": plain(format(value, "f")), "unit": unit}, "measure_compound", 0.95
    )


def with_fractions(text: str) -> str:
    """`1 1/2` as 1.5 and `3/4` as 0.75."""
    return _FRACTION.sub(_as_decimal, text) if "/" in text else text


def _as_decimal(fraction: re.Match[str]) -> str:
    whole, above, below = fraction.groups()
    # `10/20` and `100/200` are two numbers, since fractions are written in lowest terms.
    if int(below) not in _PARTS or int(above) >= int(below) or gcd(int(above), int(below)) > 1:
        return fraction.group()
    return format(round(int(whole or 0) + Decimal(above) / Decimal(below), 6).normalize(), "f")


def split_measure(text: str) -> tuple[str, str] | None:
    """Split `1 234,5 kg` into number and unit, which may be empty."""
    cleaned = _APPROXIMATELY.sub("", to_ascii(text[:MAX_LENGTH].strip()))
    cut = len(cleaned)
    while cut and not (cleaned[cut - 1].isdecimal() or cleaned[cut - 1] in ".,"):
        cut -= 1
    if not cut:
        return None
    word = cleaned[cut:].strip()
    if word.startswith(("2", "3")) or (cut > 1 and cleaned[cut - 2].isalpha()):
        # The digit belongs to the unit: m2, cm3.
        match = _MEASURE.fullmatch(cleaned)
        return (match["number"], match["unit"] or "") if match else None
    return cleaned[:cut].strip(), word


def read_pack(
    text: str, style: DecimalStyle | None = None, default_unit: str | None = None
) -> NormalisedValue:
    """A pack size; ``default_unit`` comes from the header and applies to bare numbers."""
    if is_empty_cell(text):
        return EMPTY
    if default_unit is not None and not any(map(str.isalpha, text)):
        number = read_number(to_ascii(text.strip()), style, three_are_decimals=True)
        if number is not None and number.decimal > 0:
            return NormalisedValue(Pack(1, number.text, default_unit), "pack_default_unit")
    if len(text) > MAX_LENGTH:
        return unreadable("PACK_UNREADABLE", text)
    cleaned = " ".join(to_ascii(text).split())
    pack = _multiple(cleaned, style) or _single(cleaned, style) or _counted(cleaned)
    if pack is None and (inside := _inside(cleaned)):
        pack = _multiple(inside, style) or _single(inside, style)
    if pack is None:
        return unreadable("PACK_UNREADABLE", text)
    return NormalisedValue(pack, "pack")


def _inside(text: str) -> str | None:
    """`330 ml can`, `Dose 330 ml`, `24/case` without the package."""
    one, equals, each = text.partition("=")
    if equals and KINDS.get(unit_of(one.strip().removeprefix("1").strip()) or "") == "package":
        return each.strip()
    first, _, after = text.partition(" ")
    before, _, last = text.replace("/", " ").rpartition(" ")
    if KINDS.get(unit_of(first) or "") == "package":
        return after
    return before if KINDS.get(unit_of(last) or "") == "package" else None


def _multiple(text: str, style: DecimalStyle | None) -> Pack | None:
    match = _MULTIPLE.fullmatch(text) or _OF.fullmatch(text)
    if match is None:
        return None
    outer, unit = match["outer"], unit_of(match["unit"])
    size = read_number(match["size"], style, three_are_decimals=True)
    if unit is None or size is None or (outer and unit_of(outer) is None):
        return None
    inner = match.groupdict().get("inner")
    count = int(match["count"]) * int(inner or 1)
    if not count or not size.decimal:
        return None
    if KINDS[unit] in ("count", "package") and "." not in size.text:
        return Pack(count * int(size.text), None, "piece")
    return Pack(count, size.text, unit)


def _single(text: str, style: DecimalStyle | None) -> Pack | None:
    parsed = split_measure(text)
    if parsed is None or not parsed[1]:
        if text.isdecimal() and text.isascii() and len(text) < 7 and int(text):
            return Pack(int(text), None, "piece")
        return None
    number, unit = read_number(parsed[0], style, three_are_decimals=True), unit_of(parsed[1])
    if number is None or unit is None or number.decimal <= 0:
        return None
    if KINDS[unit] in ("count", "package"):
        value = number.decimal
        return Pack(int(value), None, unit) if value == int(value) else None
    return Pack(1, number.text, unit)


def _counted(text: str) -> Pack | None:
    """`pack of 6`, `lot de 3`, `VE 10`, `6er-Pack`, `6-pack`."""
    match = _PACK_OF.fullmatch(text) or _N_PACK.fullmatch(text)
    if match is None:
        return None
    outer = match["outer"]
    unit = match.groupdict().get("unit")
    if outer and KINDS.get(unit_of(outer) or "") not in ("package", "count"):
        return None
    count = int(match["count"])
    measured = unit_of(unit) if unit else None
    if measured is not None and KINDS[measured] in ("mass", "volume", "length", "area") and count:
        return Pack(1, str(count), measured)
    if unit and KINDS.get(measured or "") != "count":
        return None
    return Pack(count, None, "piece") if count else None
