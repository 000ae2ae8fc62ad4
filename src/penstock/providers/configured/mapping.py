"""Records of a source as products of the catalog, by the code that normalises files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

from penstock.catalog.fields import full_target
from penstock.catalog.products.normalise import normalise
from penstock.catalog.products.plan import Plan, compile_plan
from penstock.catalog.products.row import NormalisedRow
from penstock.catalog.products.validate import Validator, compile_schema, compile_validator
from penstock.catalog.profiles.profile import ColumnRule, Profile
from penstock.catalog.values.currencies import rates_on
from penstock.model.errors import BadInput
from penstock.model.sources.config import SourceConfig
from penstock.model.sources.expressions.evaluate import evaluate
from penstock.model.sources.expressions.parser import Node
from penstock.model.sources.expressions.tokens import ExpressionError
from penstock.model.sources.expressions.values import text_of
from penstock.model.sources.search import Offer

CUSTOM = "custom."
_MAX_PROBLEMS = 20
_MAX_CELL = 20_000
RateRow = tuple[date, str, Decimal]


def check_fields(config: SourceConfig) -> None:
    """Raise `BadInput` for a field that does not exist, and for a schema that cannot be used."""
    for section, names in (("mapping", config.mapping), ("defaults", config.defaults)):
        for name in names:
            if _target(name) is None and not name.startswith(CUSTOM):
                raise BadInput(
                    "INVALID_CONFIG",
                    f"{section}.{name[:100]}: there is no such field. `penstock sources fields`"
                    " lists them; `custom.NAME` keeps a value under a name of your own.",
                    field=f"{section}.{name[:100]}",
                )
    try:
        compile_schema(config.response.schema_)
    except BadInput as error:
        raise BadInput(
            "INVALID_CONFIG", f"response.schema: {error.message}", field="response.schema"
        ) from error


def _target(name: str) -> str | None:
    return full_target(name)


class RecordMapper:
    """The compiled mapping of one source; `map` runs per record."""

    def __init__(
        self, config: SourceConfig, base: str, rates: tuple[RateRow, ...], today: date
    ) -> None:
        self._config = config
        self._today = today
        names = list(dict.fromkeys((*config.mapping, *config.defaults)))
        self._names = names
        self._rules: list[Node | None] = [config.rules.get(name) for name in names]
        self._plan = _plan(config, tuple(names), base, rates)
        self._validator: Validator = compile_validator(self._plan)

    def map(self, record: Any) -> Offer:
        """Pure: the same record always gives the same product."""
        cells, defaulted, failures = self._cells(record)
        row = normalise(self._plan, cells)
        verdict = self._validator.check(row)
        for name, reason in failures:
            row.add_problem(_target(name) or name, "EXPRESSION_FAILED", detail=reason)
        product = row.product
        product["source"] = self._config.name
        if "sourceId" in product:
            product["id"] = f"{self._config.name}:{product['sourceId']}"
        _add_delivery_date(row, self._today)
        problems = [one.as_json() for one in row.problems[:_MAX_PROBLEMS]]
        error = None
        if verdict != "valid":
            error = next(one.as_json() for one in row.problems if one.severity == "error")
        return Offer(product, self._lineage(row, defaulted), problems, error)

    def _cells(self, record: Any) -> tuple[list[str], set[str], list[tuple[str, str]]]:
        """The cells, which of them are defaults, and the expressions that failed."""
        cells: list[str] = []
        defaulted: set[str] = set()
        failures: list[tuple[str, str]] = []
        config = self._config
        for name, rule in zip(self._names, self._rules, strict=True):
            cell = ""
            if rule is not None:
                try:
                    value = evaluate(rule, record, self._today, config.lookups)
                    cell = _cell(value, config.response.decimal)
                except ExpressionError as error:
                    failures.append((name, str(error)))
            if not cell and name in config.defaults:
                cell = config.defaults[name]
                defaulted.add(name)
            cells.append(cell)
        return cells, defaulted, failures

    def _lineage(self, row: NormalisedRow, defaulted: set[str]) -> dict[str, Any]:
        """Where each value came from: the expression instead of a column."""
        expressions = self._config.mapping
        found: dict[str, Any] = {}
        for target, (header, raw, rule, sure) in row.lineage.items():
            told = (
                f"default of {header}" if header in defaulted else expressions.get(header, header)
            )
            found[target] = (told, raw, rule, sure)
        return found


@lru_cache(maxsize=64)
def _plan_of(
    name: str, names: tuple[str, ...], decimal: Any, dates: Any, currency: str | None, base: str,
    rates: tuple[RateRow, ...],
) -> Plan:  # fmt: skip
    newest = max((day for day, _, _ in rates), default=date.min)
    profile = Profile(
        "source",
        source=name,
        columns={one: ColumnRule(_target(one)) for one in names},
        decimal=decimal,
        dates=dates,
        currency=currency,
        required=("sourceId", "title"),
        key="sourceId",
    )
    header = [one.removeprefix(CUSTOM) if _target(one) is None else one for one in names]
    columns = {new: profile.columns[old] for old, new in zip(names, header, strict=True)}
    return compile_plan(header, _with_columns(profile, columns), (), rates_on(newest, base, rates))


def _with_columns(profile: Profile, columns: Mapping[str, ColumnRule]) -> Profile:
    return replace(profile, columns=columns)


def _plan(
    config: SourceConfig, names: tuple[str, ...], base: str, rates: tuple[RateRow, ...]
) -> Plan:
    response = config.response
    currency = config.defaults.get("price.currency") or config.defaults.get("currency")
    return _plan_of(
        config.name, names, response.decimal, response.dates, currency, base, rates
    )  # fmt: skip


def _cell(value: Any, style: str) -> str:
    """The cell of a file that a value would be in. Lists and objects become JSON."""
    if isinstance(value, list):
        texts = [text for one in value if (text := text_of(one))]
        if len(texts) == len(value):
            return orjson.dumps(texts).decode()[:_MAX_CELL] if texts else ""
        return orjson.dumps(value, default=str).decode()[:_MAX_CELL]
    text = text_of(value)
    if text is None:
        if isinstance(value, Mapping) and value:
            return orjson.dumps(value, default=str).decode()[:_MAX_CELL]
        return ""
    if (
        style == "comma"
        and isinstance(value, Decimal | int | float)
        and not isinstance(value, bool)
    ):
        text = text.replace(".", ",")
    return text[:_MAX_CELL]


def _add_delivery_date(row: NormalisedRow, today: date) -> None:
    """Where only the lead time is given, the day is today plus that time."""
    stock = row.product.get("availability", {})
    days = stock.get("leadTimeDays")
    if days is None or "deliveryDate" in stock or days > 3650:
        return
    stock["deliveryDate"] = (today + timedelta(days=days)).isoformat()
    header, raw, _, sure = row.lineage["availability.leadTimeDays"]
    row.lineage["availability.deliveryDate"] = (header, raw, "today_plus_lead_time", sure)
