"""Validate a row: contract, required fields and the profile's rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal
from urllib.parse import unquote

import jsonschema_rs

from penstock.catalog.fields import REQUIRED, full_target
from penstock.catalog.products.plan import Plan
from penstock.catalog.products.row import NormalisedRow, RowProblem
from penstock.catalog.profiles.profile import ALL_FIELDS
from penstock.catalog.values.result import problem
from penstock.model.errors import BadInput

Verdict = Literal["valid", "invalid", "discarded"]

MAX_VIOLATIONS = 20
DEEPEST = 30
MAX_EXPANDED_SIZE = 20_000

# A product is identified by the first of these that it has.
_NAMES = ("sourceId", "identifiers.sku", "identifiers.gtin", "identifiers.mpn")
_CALLED = {"sourceId": "id (SKU, GTIN or MPN would do)"}

# Problems of a whole row, whatever field they name.
_OF_ROWS = frozenset(("REQUIRED_MISSING", "RULE_VIOLATED", "COLUMN_UNKNOWN", "ROW_TOO_LONG"))
# Amounts are strings in a product; rules see numbers, so that `minimum` works.
_AMOUNTS = ("amount", "maxAmount")


@dataclass(frozen=True, slots=True)
class Validator:
    """Compiled once per job; `check` runs per row."""

    plan: Plan
    required: tuple[tuple[str, tuple[str, ...]], ...]
    rules: Any
    # Fields whose unreadable value makes the row invalid; None: all. Any other field is left empty
    # with a warning.
    strict: frozenset[str] | None

    def check(self, row: NormalisedRow, cells: Sequence[str] = ()) -> Verdict:
        """The verdict. Adds problems to the row and removes discarded values from its product."""
        contract = self.plan.profile.contract
        if (
            self.plan.unknown
            and contract == "discard_row"
            and self._has_unknown_columns(row, cells)
        ):
            return "discarded"
        if self.rules is not None:
            self._check_rules(row)
        if contract == "discard_value":
            _discard_values(row)
        if row.problems and self.strict is not None:
            _leave_empty(row, self.strict)
        self._check_required(row)
        if not any(found.severity == "error" for found in row.problems):
            return "valid"
        return "discarded" if contract == "discard_row" else "invalid"

    def _has_unknown_columns(self, row: NormalisedRow, cells: Sequence[str]) -> bool:
        for column, name in self.plan.unknown:
            if column < len(cells) and cells[column].strip():
                found = problem("COLUMN_UNKNOWN")
                row.problems.append(RowProblem(name, cells[column][:300], *found))
                return True
        return False

    def _check_required(self, row: NormalisedRow) -> None:
        for target, path in self.required:
            if row.continues and target in ("title", "sourceId"):
                continue
            if not is_filled(row, target, path):
                found = problem("REQUIRED_MISSING", field=_CALLED.get(target, target))
                row.problems.append(RowProblem(self._column_of(target), None, *found, target))

    def _column_of(self, target: str) -> str | None:
        """The column that fills the field."""
        places = _NAMES if target == "sourceId" else (target,)
        return next(
            (step.header for one in places for step in self.plan.steps if step.target == one), None
        )

    def _check_rules(self, row: NormalisedRow) -> None:
        shown = with_numeric_amounts(row.product)
        if self.rules.is_valid(shown):
            return
        for count, error in enumerate(self.rules.iter_errors(shown)):
            if count == MAX_VIOLATIONS:
                break
            path = [str(part) for part in error.instance_path]
            target = ".".join(part for part in path if not part.isdecimal()) or None
            source = row.lineage.get(target or "") or row.lineage.get(path[0] if path else "")
            where = target or "the product"
            found = problem(
                "RULE_VIOLATED", detail=f"{where} as it is ({str(error.message)[:200]})"
            )
            column, raw = source[:2] if source else (None, None)
            row.problems.append(RowProblem(column, raw, *found, target))


def compile_validator(plan: Plan) -> Validator:
    """Raises BadInput for rules that are not a JSON Schema or that refer to another document."""
    names = REQUIRED if plan.profile.required is None else plan.profile.required
    required = tuple(
        (target, tuple(target.split("."))) for name in names if (target := full_target(name))
    )
    rules = compile_schema(plan.profile.rules)
    return Validator(plan, required, rules, _strict_fields(plan, required))


def _strict_fields(
    plan: Plan, required: Sequence[tuple[str, Sequence[str]]]
) -> frozenset[str] | None:
    """Identity, required fields and those that the profile names."""
    profile = plan.profile
    if ALL_FIELDS in profile.strict or profile.contract == "discard_row":
        return None
    named = {target for name in profile.strict if (target := full_target(name))}
    identity = {"sourceId", "identifiers.sku"}
    if profile.key == "gtin" or "identifiers.sku" not in plan.targets | {"sourceId"}:
        identity.add("identifiers.gtin")
    return frozenset({*named, *identity, *(target for target, _ in required)})


def compile_schema(rules: Mapping[str, Any] | None) -> Any:
    """A JSON Schema that a user wrote, without references to other documents; None for none."""
    if not rules:
        return None
    _refuse_references(rules, DEEPEST)
    if expanded_size(rules) > MAX_EXPANDED_SIZE:
        raise BadInput(
            "INVALID_CONFIG",
            f"The rules expand to more than {MAX_EXPANDED_SIZE:,} parts through references",
        )
    try:
        # Untrusted patterns: this engine takes time linear in the text.
        return jsonschema_rs.validator_for(
            dict(rules),
            validate_formats=True,
            offline=True,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        reason = str(error).split("\n", 1)[0][:300]
        raise BadInput("INVALID_CONFIG", f"The rules are not a JSON Schema: {reason}") from error


def _refuse_references(schema: Any, depth: int) -> None:
    if depth == 0:
        raise BadInput("INVALID_CONFIG", f"The rules are nested more than {DEEPEST} deep")
    if isinstance(schema, Mapping):
        for name, value in schema.items():
            if name in ("$ref", "$dynamicRef") and not str(value).startswith("#"):
                raise BadInput(
                    "INVALID_CONFIG",
                    f"The rules refer to {str(value)[:100]!r}; only references inside (#…) work",
                )
            _refuse_references(value, depth - 1)
    elif isinstance(schema, list):
        for value in schema:
            _refuse_references(value, depth - 1)


def expanded_size(rules: Mapping[str, Any]) -> int:
    """The size of the rules with each reference replaced by its target. References
    to references can double with each step, and validation visits every part. A reference
    to itself counts once, since the depth of a product bounds it."""
    anchors = dict(_anchors(rules))
    known: dict[str, int] = {}

    def size(schema: Any) -> int:
        if isinstance(schema, list):
            return 1 + sum(map(size, schema))
        if not isinstance(schema, Mapping):
            return 1
        total = 1
        for name, value in schema.items():
            if name in ("$ref", "$dynamicRef") and isinstance(value, str):
                total += target_size(value)
            elif name not in ("$defs", "definitions"):
                total += size(value)
        return total

    def target_size(reference: str) -> int:
        if reference not in known:
            known[reference] = 1
            known[reference] = min(size(_target(rules, reference, anchors)), MAX_EXPANDED_SIZE + 1)
        return known[reference]

    return size(rules)


def _anchors(schema: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(schema, Mapping):
        for name in ("$anchor", "$dynamicAnchor"):
            if name in schema:
                yield f"#{schema[name]}", schema
    for part in schema.values() if isinstance(schema, Mapping) else schema:
        if isinstance(part, Mapping | list):
            yield from _anchors(part)


def _target(rules: Mapping[str, Any], reference: str, anchors: Mapping[str, Any]) -> Any:
    """The target of a reference inside the rules; None if the compiler will refuse it."""
    if reference in anchors:
        return anchors[reference]
    place: Any = rules
    for step in unquote(reference).removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, Mapping):
            place = place.get(name)
        elif isinstance(place, list) and name.isdecimal() and int(name) < len(place):
            place = place[int(name)]
        else:
            return None
    return place


def with_numeric_amounts(product: Mapping[str, Any]) -> dict[str, Any]:
    """The product with amounts as exact numbers."""
    price = product.get("price")
    if price is None:
        return dict(product)
    return {**product, "price": _numbers(price)}


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: Decimal(one) if name in _AMOUNTS and isinstance(one, str) else _numbers(one)
            for name, one in value.items()
        }
    return [_numbers(one) for one in value] if isinstance(value, list) else value


def _at(product: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = product
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def is_filled(row: NormalisedRow, target: str, path: Sequence[str]) -> bool:
    """Whether the row has a value for a required field, or says why it has none."""
    return _at(row.product, path) is not None or _is_reported(row, target)


def _is_reported(row: NormalisedRow, target: str) -> bool:
    """A field that is reported as unreadable, or a price on request, is not reported as missing."""
    if target == "price.amount" and row.product.get("price", {}).get("onRequest"):
        return True
    return any(p.target == target and p.severity == "error" for p in row.problems)


def _leave_empty(row: NormalisedRow, strict: frozenset[str]) -> None:
    """An unreadable value of an optional field is a warning, and the field stays empty."""
    for place, found in enumerate(row.problems):
        if found.severity != "error" or found.target is None or found.target in strict:
            continue
        if found.code not in _OF_ROWS:
            _remove(row.product, found.target)
            row.lineage.pop(found.target, None)
            row.problems[place] = found._replace(severity="warning")


def _discard_values(row: NormalisedRow) -> None:
    """Remove values with errors from the product and turn the errors into warnings."""
    kept: list[RowProblem] = []
    for found in row.problems:
        if found.severity != "error" or found.target is None:
            kept.append(found)
            continue
        _remove(row.product, found.target)
        row.lineage.pop(found.target, None)
        said = problem("VALUE_DISCARDED", detail=f"{found.code}, {found.message}")
        kept.append(RowProblem(found.column, found.value, *said, found.target))
    row.problems[:] = kept


def _remove(product: dict[str, Any], target: str) -> None:
    *parents, name = ("price",) if target == "price.amount" else target.split(".")
    level: Any = product
    for parent in parents:
        level = level.get(parent) if isinstance(level, dict) else None
    if isinstance(level, dict):
        level.pop(name, None)
