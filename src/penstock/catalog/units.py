"""Units of sale and measure, and pack sizes: `6 x 330 ml`, `2 St`, `12 pcs`, `1,5 kg`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from penstock.catalog.numbers import (
    DecimalStyle,
    ambiguity,
    is_nothing,
    plain,
    read_number,
    to_ascii,
)
from penstock.catalog.text import tidy_line
from penstock.catalog.unit_words import FACTORS, KINDS, WORDS
from penstock.catalog.value import EMPTY, Normalised, Problem, problem, unreadable

LONGEST = 120

# Nothing in it can be read in two ways.
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
    r"(?P<count>[0-9]{1,5})(?:\s{0,2}-\s{0,2}|er[ -]?|\s{1,2})(?P<outer>[^\W\d_]{2,16})?"
)


@dataclass(frozen=True, slots=True)
class Pack:
    """``count`` things of ``size`` ``unit`` each; ``size`` is None for mere counts."""

    count: int
    size: str | None
    unit: str

    def total(self) -> tuple[Decimal, str]:
        """How much it is in the unit prices are compared in: kg, l, m, m2, piece."""
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
    """The canonical name of a unit, from any of its names, or None."""
    return WORDS.get(word.strip()) or WORDS.get(_plain_word(word))


def kind_of(unit: str) -> str | None:
    return KINDS.get(unit)


def _plain_word(word: str) -> str:
    low = to_ascii(word.strip()).casefold().rstrip(". ")
    return low[1:-1] if low.startswith("(") and low.endswith(")") else low


def read_unit(text: str) -> Normalised:
    """A cell of a unit column: `kg`, `Stück`, `PCE`, `100 g`."""
    if is_nothing(text):
        return EMPTY
    unit = unit_of(text)
    if unit is not None:
        return Normalised(unit, "unit")
    match = _MEASURE.fullmatch(to_ascii(text.strip())[:40])
    if match is not None and match["unit"]:
        unit, number = unit_of(match["unit"]), read_number(match["number"])
        if unit is not None and number is not None:
            return Normalised(unit if number.text == "1" else f"{number.text} {unit}", "unit")
    kept = tidy_line(text[:80])[:40]
    return Normalised(kept, "as_written", 0.5, (problem("UNIT_UNKNOWN", value=kept),))


def read_measure(
    text: str, kind: str, default_unit: str | None, style: DecimalStyle | None = None
) -> Normalised:
    """A weight or a length: `{value, unit}`, the unit as given, under its one name."""
    if default_unit is not None and (
        _BARE.fullmatch(text) or (style is not None and _THREE[style].fullmatch(text))
    ):
        value = {"value": plain(text.replace(",", ".")), "unit": default_unit}
        return Normalised(value, "measure_default_unit")
    if is_nothing(text):
        return EMPTY
    parsed = split_measure(text)
    if parsed is None:
        return unreadable("MEASURE_UNREADABLE", text)
    number_text, word = parsed
    number = read_number(number_text, style, three_are_decimals=True)
    if number is None:
        return unreadable("MEASURE_UNREADABLE", text)
    if number.text.startswith("-"):
        return unreadable("NUMBER_NEGATIVE", text)
    unit = unit_of(word) if word else default_unit
    problems: tuple[Problem, ...] = ambiguity(text, number)
    if unit is None and word:
        return unreadable("MEASURE_UNREADABLE", text)
    if unit is None:
        problems = (*problems, problem("UNIT_MISSING", value=text))
        return Normalised({"value": plain(number.text)}, "measure", 0.5, problems)
    if KINDS[unit] != kind:
        return unreadable("MEASURE_UNREADABLE", text)
    rule = "measure" if word else "measure_default_unit"
    measure = {"value": plain(number.text), "unit": unit}
    return Normalised(measure, rule, number.confidence, problems)


def split_measure(text: str) -> tuple[str, str] | None:
    """`1 234,5 kg` into number and unit; no unit gives an empty word."""
    cleaned = _APPROXIMATELY.sub("", to_ascii(text[:LONGEST].strip()))
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


def read_pack(text: str, style: DecimalStyle | None = None) -> Normalised:
    """How many of what a price is for."""
    if is_nothing(text):
        return EMPTY
    if len(text) > LONGEST:
        return unreadable("PACK_UNREADABLE", text)
    cleaned = " ".join(to_ascii(text).split())
    pack = _multiple(cleaned, style) or _single(cleaned, style) or _counted(cleaned)
    if pack is None and (inside := _inside(cleaned)):
        pack = _multiple(inside, style) or _single(inside, style)
    if pack is None:
        return unreadable("PACK_UNREADABLE", text)
    return Normalised(pack, "pack")


def _inside(text: str) -> str | None:
    """`330 ml can`, `Dose 330 ml`, `24/case`: the same without the package it comes in."""
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
    if unit and KINDS.get(unit_of(unit) or "") != "count":
        return None
    count = int(match["count"])
    return Pack(count, None, "piece") if count else None
