"""What is wrong with a value that pydantic refuses, as a message for its sender."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

_MUST_BE: Final = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "decimal_type": "a number",
    "decimal_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "an object",
    "mapping_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "uuid_type": "an id such as 01a1e7da-503b-7cff-bd4a-880141d0d095",
    "uuid_parsing": "an id such as 01a1e7da-503b-7cff-bd4a-880141d0d095",
    "datetime_type": "a time such as 2026-11-15T09:30:00Z",
    "datetime_parsing": "a time such as 2026-11-15T09:30:00Z",
    "datetime_from_date_parsing": "a time such as 2026-11-15T09:30:00Z",
    "timezone_aware": "a time with its zone, such as 2026-11-15T09:30:00Z",
    "date_type": "a date such as 2026-11-15",
    "date_parsing": "a date such as 2026-11-15",
    "date_from_datetime_parsing": "a date such as 2026-11-15",
    "literal_error": "{expected}",
    "enum": "{expected}",
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "string_too_short": "at least {min_length} characters long",
    "string_too_long": "at most {max_length} characters long",
    "string_pattern_mismatch": "text that matches {pattern}",
    "too_long": "a list with at most {max_length} entries",
    "too_short": "a list with at least {min_length} entries",
}
# Patterns of fields that people write, in words.
_LIKE: Final = {
    r"^[A-Z]{3}$": "a currency such as EUR",
    r"^([A-Z]{3})?$": "a currency such as EUR",
    r"^[^@\s]+@[^@\s]+$": "an e-mail address",
    r"^https?://": "an address that begins with http:// or https://",
    r"^(https?://[^\x00-\x20\x7f]*)?$": "an address that begins with http:// or https://",
    r"^[0-9]{0,14}$": "up to 14 digits",
    r"^[^\x00]*$": "text without NUL characters",
    r"^[^\x00-\x1f\x7f]*$": "one line of text",
    r"^[^\x00-\x1f\x7f]+$": "one line of text",
    r"^[^\x00-\x1f\x7f]*\S$": "one line of text that does not end with a space",
    r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f]$": "one line of text that does not end with a space",
    r"^[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*$": "one line of text that is not blank",
    r"^[A-Za-z0-9._-]*$": "letters, digits, `.`, `_` and `-`",
    r"^[A-Za-z0-9_.-]*$": "letters, digits, `.`, `_` and `-`",
    r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$": "up to 100 letters, digits, `.`, `_`, `:` and `-`",
    r"^[a-z0-9][a-z0-9._-]{0,62}$": "up to 63 small letters, digits, `.`, `_` and `-`",
    r"^[A-Z][A-Z0-9_]{0,63}$": "a code such as API_TIMEOUT",
}
# Names that pydantic gives to the branches of a union; no caller wrote them.
_BRANCHES: Final = frozenset({"str", "int", "float", "bool", "datetime", "uuid", "none"})
# The same for a branch that is a model: `urls.0.PageOrder`.
_MODEL_NAME: Final = re.compile(r"(?:[A-Z][a-z]+){2,}")
# How Python prints a member of an enumeration.
_MEMBER: Final = re.compile(r"<\w+\.\w+: ('[^']*'|\d+)>")


def field_of(problem: Mapping[str, Any]) -> str:
    """The path of the field, as the caller wrote it."""
    parts = problem["loc"] or ("",)
    kept = [part for before, part in pairwise(parts) if not _is_branch(before, str(part))]
    return ".".join(str(part) for part in (parts[0], *kept))


def _is_branch(before: Any, part: str) -> bool:
    is_model = isinstance(before, int) and _MODEL_NAME.fullmatch(part)
    return bool(is_model) or part in _BRANCHES or "[" in part or "(" in part


def reason_of(problem: Mapping[str, Any]) -> str:
    kind, context = problem["type"], problem.get("ctx") or {}
    if kind == "missing":
        return "this field is required"
    if kind in ("string_too_short", "too_short") and context.get("min_length") == 1:
        return "must not be empty"
    if kind == "extra_forbidden":
        return "there is no such field"
    if kind == "string_pattern_mismatch" and context.get("pattern") in _LIKE:
        return f"must be {_LIKE[context['pattern']]}"
    if kind in _MUST_BE:
        limits = {name: _plain(limit) for name, limit in context.items()}
        return "must be " + _MEMBER.sub(r"\1", _MUST_BE[kind].format(**limits))
    return str(problem["msg"]).removeprefix("Value error, ")


def _plain(limit: Any) -> Any:
    """A limit of a field with fractions is often a whole number."""
    return int(limit) if isinstance(limit, float) and limit.is_integer() else limit


def reasons_by_field(problems: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """One reason for each field: a value that may be one of several things names all of them."""
    reasons: dict[str, list[str]] = {}
    for one in problems:
        known = reasons.setdefault(field_of(one), [])
        reason = reason_of(one)
        if reason not in known:
            known.append(reason)
    return {field: _joined(some) for field, some in reasons.items()}


def _joined(reasons: Sequence[str]) -> str:
    first, *others = reasons
    return " or ".join((first, *(one.removeprefix("must be ") for one in others)))
