"""Check profiles that callers send: strict types and bounded sizes.

check_types   types of any profile, also of a stored one
check_bounds  sizes of a profile that a caller sends
parse_toml    TOML within the same bounds
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from penstock.catalog.values.dates import DateOrder
from penstock.catalog.values.numbers import DecimalStyle
from penstock.model.errors import BadInput
from penstock.model.text.wrong_input import reason_of

Contract = Literal["evolve", "freeze", "discard_row", "discard_value"]
Winner = Literal["first", "last", "most_complete"]
Key = Literal["sku", "gtin", "sourceId"]

MAX_BYTES = 512 * 1024
MAX_RULE_BYTES = 128 * 1024
MAX_COLUMNS = 2_000
MAX_REQUIRED = 200
MAX_HEADER_LENGTH = 1_000
MAX_TEXT_LENGTH = 100
DEEPEST = 40

Text = Annotated[str, StringConstraints(strict=True)]
# Tables, arrays and dotted keys nest.
_TOML_TEXT = re.compile(
    r'"""(?:[^\\]|\\.)*?"""' r"|'''.*?'''" r'|"(?:[^"\\\n]|\\.)*+"' r"|'[^'\n]*+'|#[^\n]*+",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{DEEPEST}}}")
_BRACKETS = re.compile(r"[\[\]{}]")


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class ColumnRuleInput(_StrictModel):
    """The rule of one column of the file."""

    target: Text | None = Field(
        None, description="The field; null keeps it as a custom field, `ignore` leaves it out."
    )
    decimal: DecimalStyle | None = None
    dates: DateOrder | None = None
    currency: Text | None = None
    unit: Text | None = None
    tax_included: bool | None = None


class ProfileInput(_StrictModel):
    """A profile; its name is part of the URL, and its version is assigned."""

    name: Text = Field("", max_length=MAX_TEXT_LENGTH)
    version: int = Field(1, ge=1, le=2**31 - 1)
    source: Text = ""
    fingerprint: Text | None = None
    columns: dict[str, Text | ColumnRuleInput] = Field(default_factory=dict)
    decimal: DecimalStyle | None = None
    dates: DateOrder | None = None
    currency: Text | None = None
    weight_unit: Text | None = None
    length_unit: Text | None = None
    required: list[Text] | None = None
    strict: list[Text] | None = None
    rules: dict[str, Any] | None = Field(None, description="JSON Schema that products must fit.")
    values: dict[Text, dict[Text, Text]] | None = Field(
        None,
        description="What words mean, by field: the cell is read as if it had this text.",
        examples=[{"availability.stock": {"Auslauf": "0"}}],
    )
    contract: Contract = "evolve"
    winner: Winner = "first"
    key: Key = "sku"
    price_guard: float | None = Field(
        50, ge=0, le=100_000, description="Percent a known price may change unasked; 0: any change."
    )


def unusable(what: str, *place: str) -> BadInput:
    """``place``: the setting that is wrong, such as `columns`, its column and `currency`."""
    details: dict[str, Any] = {"place": list(place)} if place else {}
    return BadInput("INVALID_CONFIG", f"The profile cannot be used: {what}", **details)


def check_types(given: Mapping[str, Any]) -> None:
    """Raise BadInput for the first unknown setting or wrong type."""
    try:
        ProfileInput.model_validate(given)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        # A column may be a string or a table; the error about the string is not helpful.
        first = next(one for one in problems if one["loc"][-1:] != ("str",))
        place = [str(part)[:MAX_TEXT_LENGTH] for part in first["loc"] if part != "ColumnRuleInput"]
        if first["type"] == "extra_forbidden":
            raise unusable(f"unknown setting {'.'.join(place)!r}", *place) from error
        raise unusable(f"{'.'.join(place)}: {reason_of(first)}", *place) from error


def check_bounds(given: Mapping[str, Any]) -> None:
    """Refuse large or deeply nested profiles and values that JSON cannot hold."""
    _check_value(given, DEEPEST)
    columns, rules = given.get("columns"), given.get("rules")
    if isinstance(columns, Mapping):
        if len(columns) > MAX_COLUMNS:
            raise unusable(f"more than {MAX_COLUMNS:,} columns", "columns")
        if any(len(header) > MAX_HEADER_LENGTH for header in columns):
            long = f"a column's name is longer than {MAX_HEADER_LENGTH:,} characters"
            raise unusable(long, "columns")
    for name in ("required", "strict"):
        fields = given.get(name)
        if isinstance(fields, list) and len(fields) > MAX_REQUIRED:
            raise unusable(f"`{name}` names more than {MAX_REQUIRED} fields", name)
    if len(orjson.dumps(rules)) > MAX_RULE_BYTES:
        raise unusable(f"the rules are larger than {MAX_RULE_BYTES:,} bytes", "rules")
    if len(orjson.dumps(given)) > MAX_BYTES:
        raise unusable(f"it is larger than {MAX_BYTES:,} bytes")
    _check_texts({name: value for name, value in given.items() if name != "rules"})


def _check_texts(value: Any) -> None:
    """All texts except column names and rules are short names."""
    if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH:
        raise unusable(f"{value[:20]!r}… is longer than {MAX_TEXT_LENGTH} characters")
    for part in _parts_of(value):
        _check_texts(part)


def _check_value(value: Any, room: int) -> None:
    """Refuse the dates, infinities and large integers that TOML allows."""
    if room == 0:
        raise unusable(f"it is nested more than {DEEPEST} deep")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise unusable("it contains a number that is not finite")
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise unusable("it contains a number of more than 64 bits")
    elif isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise unusable("it contains a key that is not a string")
            _check_text(name)
    elif value is not None and not isinstance(value, list):
        raise unusable(f"it holds a {type(value).__name__}")
    for part in _parts_of(value):
        _check_value(part, room - 1)


def _parts_of(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()


def _check_text(text: str) -> None:
    if "\0" in text:
        raise unusable("a text contains the character NUL")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise unusable("a text contains a lone surrogate") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; input that would take much time or memory is refused before."""
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        raise unusable(f"it is larger than {MAX_BYTES:,} bytes")
    bare = _TOML_TEXT.sub("s", text)
    depth = 0
    for bracket in _BRACKETS.findall(bare):
        depth += 1 if bracket in "[{" else -1
        if depth > DEEPEST:
            raise unusable(f"it is nested more than {DEEPEST} deep")
    # The parser takes time quadratic in the number of parts of a dotted key.
    if _LONG_KEY.search(bare):
        raise unusable(f"a key has more than {DEEPEST} parts")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError, OverflowError) as error:
        raise BadInput("INVALID_CONFIG", f"The profile is not valid TOML: {error}") from error
