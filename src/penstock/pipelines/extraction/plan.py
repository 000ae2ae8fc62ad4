"""Choose the profile of a file and compile the plan that turns its rows into products."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import zip_longest
from typing import Any

import orjson

from penstock.catalog.fields import REQUIRED, full_target
from penstock.catalog.mapping.column_decisions import ColumnDecision, decide
from penstock.catalog.mapping.column_stats import ColumnStats
from penstock.catalog.mapping.price_context import (
    find_price_context,
    with_number_formats,
    with_price_context,
)
from penstock.catalog.mapping.proposal import Proposal, fingerprint, propose
from penstock.catalog.mapping.repeated_skus import group_by_sku
from penstock.catalog.mapping.shared_signs import currency_by_language, with_crowns
from penstock.catalog.mapping.synonyms import read_hints
from penstock.catalog.products.grid import grid_columns
from penstock.catalog.products.plan import Plan, compile_plan
from penstock.catalog.products.validate import Validator, compile_validator
from penstock.catalog.profiles import profile as profiles
from penstock.catalog.profiles.profile import ColumnRule, Profile
from penstock.catalog.saved_profiles import with_file_headers
from penstock.catalog.values.currencies import Rates, rates_on
from penstock.model.errors import BadInput, PermanentError
from penstock.model.pipeline import Job
from penstock.model.ports import Context, Products, Profiles

_MAX_SAMPLES_KEPT = 3
# The source of products if neither job nor profile name one.
DEFAULT_SOURCE = "file"
_NAMES_A_PRODUCT = {"sourceId", "identifiers.sku", "identifiers.gtin", "identifiers.mpn"}
# Records may have identifiers in their variants.
_NAMES_OR_TITLES = {"title", "variants", *_NAMES_A_PRODUCT}
MAPPING_NEEDED = "MAPPING_NEEDED"
_MAX_CANDIDATES = 20
_FROM_CONFIG = (
    "source", "decimal", "dates", "currency", "contract", "winner", "key", "rules", "price_guard",
)  # fmt: skip


async def choose_profile(
    job: Job, header: Sequence[str], stats: Sequence[ColumnStats], saved: Profiles
) -> tuple[Profile, Proposal, str]:
    """The profile and its origin: named in the config, saved for files with these columns, or
    proposed from the file. Settings of the job's config override it."""
    proposal = group_by_sku(propose(header, [one.samples for one in stats]), stats)
    kept = await _saved_profile(job, header, saved)
    chosen, origin = kept or (profiles.from_proposal("proposed", proposal), "proposed")
    asked = with_job_settings(chosen, header, job.config)
    return await _with_saved_values(job, asked, saved), proposal, origin


async def _with_saved_values(job: Job, profile: Profile, saved: Profiles) -> Profile:
    """The profile with the words that are saved for its source."""
    known_words = await saved.values(job.org_id, profile.source or DEFAULT_SOURCE)
    return profiles.with_values(profile, known_words)


async def _saved_profile(
    job: Job, header: Sequence[str], saved: Profiles
) -> tuple[Profile, str] | None:
    named = job.config.profile
    kept = await saved.profile(job.org_id, named, None if named else fingerprint(header))
    if kept is None and named is not None:
        raise BadInput("INVALID_CONFIG", f"There is no profile {named!r}.")
    if kept is None:
        return None
    return with_file_headers(profiles.from_json(kept), header), "named" if named else "saved"


async def same_plan(
    job: Job, header: Sequence[str], context: Mapping[str, Any], ctx: Context
) -> bool:
    """Whether the same file would get the same plan now: profiles and rates may have changed, all
    else depends on the file only."""
    rates = await ctx.port(Profiles).rates(job.config.base_currency, today())
    if _shown_rates(rates) != context["rates"]:
        return False
    kept = await _saved_profile(job, header, ctx.port(Profiles))
    if kept is None:
        source = context["profile"].get("source") or DEFAULT_SOURCE
        known_words = await ctx.port(Profiles).values(job.org_id, source)
        known = context["profile"].get("values", {})
        return bool(context["profileFrom"] == "proposed" and known == known_words)
    asked = with_job_settings(kept[0], header, job.config)
    now = profiles.to_json(await _with_saved_values(job, asked, ctx.port(Profiles)))
    return bool(context["profileFrom"] == kept[1] and context["profile"] == _as_kept(now))


def _as_kept(document: Any) -> Any:
    return orjson.loads(orjson.dumps(document))


def _shown_rates(rates: Sequence[tuple[date, str, Decimal]]) -> list[list[str]]:
    return [[day.isoformat(), currency, str(worth)] for day, currency, worth in rates]


def with_job_settings(profile: Profile, header: Sequence[str], config: Any) -> Profile:
    """The profile with the settings of the job's config."""
    changes: dict[str, Any] = {
        name: getattr(config, name) for name in _FROM_CONFIG if getattr(config, name) is not None
    }
    if config.required is not None:
        changes["required"] = tuple(config.required)
    if config.strict is not None:
        changes["strict"] = tuple(config.strict)
    if config.mapping is not None:
        changes["columns"] = _map_columns(profile, header, config.mapping)
    chosen = replace(profile, **changes) if changes else profile
    if chosen.required is None:
        chosen = replace(chosen, required=_required_fields(chosen, header))
    return chosen


def _required_fields(profile: Profile, header: Sequence[str]) -> tuple[str, ...]:
    """The default of required fields: those for which the file has a column. A file without titles
    should not fail in every row."""
    columns = profile.columns
    filled = {rule.target for name in header if (rule := columns.get(name)) is not None}
    if filled & {"identifiers.sku", "identifiers.gtin", "identifiers.mpn"}:
        filled.add("sourceId")
    return tuple(target for target in REQUIRED if target in filled)


def check_mapping(header: Sequence[str], mapping: Mapping[str, str | None] | None) -> None:
    unknown = [column for column in mapping or () if column not in header]
    if unknown:
        raise BadInput(
            "INVALID_CONFIG",
            f"The mapping names columns the file does not have: {', '.join(unknown)}",
            unknown=unknown,
            columns=list(header[:100]),
        )


def _map_columns(
    profile: Profile, header: Sequence[str], mapping: Mapping[str, str | None]
) -> dict[str, ColumnRule]:
    check_mapping(header, mapping)
    columns = dict(profile.columns)
    checked = profiles.from_json(
        {"name": "asked", "columns": {name: {"target": to} for name, to in mapping.items()}}
    ).columns
    # The header still names currency and unit of its cells.
    asked = {
        name: profiles.rule_for(rule.target, read_hints(name)[0]) for name, rule in checked.items()
    }
    taken = {rule.target for rule in asked.values()}
    for name, rule in columns.items():
        if name not in asked and rule.target in taken:
            columns[name] = replace(rule, target=None)
    return {**columns, **asked}


def build_context(
    header: Sequence[str], stats: Sequence[ColumnStats], profile: Profile, proposal: Proposal,
    origin: str, rates: Sequence[tuple[date, str, Decimal]], base: str,
    reading: Mapping[str, Any],
) -> dict[str, Any]:  # fmt: skip
    """The job's context: all that the stages need."""
    said = find_price_context(reading)
    settled = profile.currency or said.currency
    shown = reading.get("shown_with", {})
    likely = None if settled else currency_by_language(header, stats)
    decisions = with_crowns(decide(stats, settled, likely), header, likely)
    decisions = with_number_formats(decisions, header, shown, settled)
    decisions = with_price_context(decisions, said, profile.currency)
    plan = compile_plan(header, profile, decisions)
    targets = [step.target for step in plan.steps]
    return {
        "profile": profiles.to_json(profile),
        "profileFrom": origin,
        "decisions": [one.as_json() for one in decisions],
        "rates": _shown_rates(rates),
        "columns": grid_columns(targets, [one.name for one in plan.custom], converts=bool(rates)),
        "notes": [*plan.notes, *(proposal.notes if origin == "proposed" else ())],
        "warnings": _warnings(plan, rates, base),
        "mapping": _shown_mapping(profile, proposal, stats),
    }


def _warnings(
    plan: Plan, rates: Sequence[tuple[date, str, Decimal]], base: str
) -> list[dict[str, str]]:
    """Problems that concern all rows, reported once."""
    found = []
    if not plan.targets & _NAMES_A_PRODUCT:
        message = (
            "No column says which product a row is: map one to its id, SKU, GTIN or MPN. Until then"
            " rows can be checked and exported, but none can be written to the catalog."
        )
        found.append({"code": "REQUIRED_MISSING", "message": message})
    if not rates and plan.currency != base and plan.targets & {"price.amount", "price.tiers"}:
        message = (
            f"Prices are not converted to {base}, because no exchange rates were imported. An admin"
            " can import them with `penstock rates import`."
        )
        found.append({"code": "RATE_MISSING", "message": message})
    return found


async def source_warnings(job: Job, profile: Profile, ctx: Context) -> list[dict[str, str]]:
    """A warning if rows of a file without a source would be compared with those of other files."""
    if profile.source:
        return []
    own = "" if job.file is None else job.file.name
    files = await ctx.port(Products).files_of_source(job.org_id, DEFAULT_SOURCE)
    others = [name for name in files if name != own]
    if not others:
        return []
    named = ", ".join(repr(name) for name in others[:3]) + (", …" if len(others) > 3 else "")
    message = (
        "No source is given, so rows are compared with products of other files without one"
        f" ({named}). If those are another supplier's, give this file a `source` of its own."
    )
    return [{"code": "SOURCE_SHARED", "message": message}]


def naming_question(context: Mapping[str, Any]) -> dict[str, Any] | None:
    """A question to the user if no column is mapped to a title or an identifier, since rows would
    become products without a name. ``context`` comes from `build_context`."""
    columns = context["mapping"]
    if _NAMES_OR_TITLES & {one["target"] for one in columns}:
        return None
    candidates = _candidates(columns)
    listed = ", ".join(f"{one['column']!r}" for one in candidates[:5]) or "none"
    message = (
        "No column is mapped to a title or to an identifier (sourceId, sku, gtin or mpn), so"
        " nothing tells which product a row means. Map at least one of them; columns that may"
        f" be meant: {listed}."
    )
    return {"code": MAPPING_NEEDED, "message": message, "candidates": candidates}


# Fields that a supplier's file nearly always has, and what their lack means.
_EXPECTED = {
    "price.amount": "No column is mapped to the price.",
    "title": "No column is mapped to the title. Rows without a title are errors.",
    "identifiers.sku": "No column is mapped to the SKU or another identifier. Products without an"
    " identifier can be checked, but not written to the catalog.",
}
_NUMBER = re.compile(r"[^\d]{0,6}\d[\d.,' \u00a0]{0,18}[^\d]{0,6}")


def field_questions(context: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Questions about fields that no column is mapped to, with the columns that may be meant. They
    need no answer: a file may have no prices."""
    columns = context["mapping"]
    targets = {one["target"] for one in columns}
    if (_NAMES_OR_TITLES - {"title"}) & targets:
        targets.add("identifiers.sku")
    if {"price.list", "price.discount"} <= targets:
        targets.add("price.amount")  # The list price less the discount.
    asked = []
    for target, message in _EXPECTED.items():
        if target in targets:
            continue
        candidates = [
            one for one in _candidates(columns, only_free=True) if _may_be(target, one["samples"])
        ]
        asked.append(
            {
                "code": "FIELD_NOT_MAPPED",
                "target": target,
                "message": message,
                "candidates": candidates,
                "optional": True,
            }
        )
    return asked


def _may_be(target: str, samples: Sequence[str]) -> bool:
    """Whether the samples of a column look like values of the field."""
    if not samples:
        return False
    numbers = sum(bool(_NUMBER.fullmatch(text)) for text in samples)
    if target == "price.amount":
        return numbers * 2 > len(samples)
    if target == "title":
        return any(" " in text for text in samples)
    return all(len(text) <= 40 and any(map(str.isdigit, text)) for text in samples)


def require_naming(context: Mapping[str, Any]) -> None:
    asked = naming_question(context)
    if asked is not None:
        raise BadInput(asked["code"], asked["message"], candidates=asked["candidates"])


def names_products(mapping: Mapping[str, str | None] | None) -> bool:
    """Whether the given mapping contains a title or an identifier."""
    return bool({full_target(to) for to in (mapping or {}).values() if to} & _NAMES_OR_TITLES)


def _candidates(
    columns: Sequence[Mapping[str, Any]], *, only_free: bool = False
) -> list[dict[str, Any]]:
    """Unmapped columns, or all if there are none; those with the most distinct values first."""
    free = [one for one in columns if one["target"] is None]
    if not free and not only_free:
        free = list(columns)
    ordered = sorted(free, key=lambda one: -one["fill"] * one["distinct"])
    return [
        {
            "column": one["column"],
            "samples": list(one["samples"]),
            "suggested": "title" if any(" " in text for text in one["samples"]) else "sku",
        }
        for one in ordered[:_MAX_CANDIDATES]
    ]


def _shown_mapping(
    profile: Profile, proposal: Proposal, stats: Sequence[ColumnStats]
) -> list[dict[str, Any]]:
    """Each column with its target, confidence, fill rate and samples."""
    shown = []
    for column, one in zip_longest(proposal.columns, stats[: len(proposal.columns)]):
        one = one or ColumnStats()
        rule = profile.columns.get(column.header)
        target = None if rule is None else rule.target
        told = column.as_json() | {
            "target": target,
            "fill": round(one.fill, 4),
            "filled": one.filled,
            "empty": one.cells - one.filled,
            "distinct": one.distinct,
            "samples": one.samples[:_MAX_SAMPLES_KEPT],
        }
        if target != column.target:
            told |= {"how": "given", "confidence": 1.0}
        shown.append(told)
    return shown


def base_rates(context: Mapping[str, Any], base: str) -> Rates:
    table = [
        (date.fromisoformat(day), currency, Decimal(worth))
        for day, currency, worth in context.get("rates", ())
    ]
    newest = max((day for day, _, _ in table), default=date.min)
    return rates_on(newest, base, table)


def today() -> date:
    return datetime.now(UTC).date()


@lru_cache(maxsize=32)
def _compile(header: tuple[str, ...], kept: bytes, base: str) -> tuple[Plan, Validator]:
    context = orjson.loads(kept)
    profile = profiles.from_json(context["profile"])
    decisions = [ColumnDecision.from_json(one) for one in context["decisions"]]
    plan = compile_plan(header, profile, decisions, base_rates(context, base))
    return plan, compile_validator(plan)


def plan_of(job: Job) -> tuple[Plan, Validator]:
    """Compiled once per job and process."""
    if "profile" not in job.context:
        raise PermanentError(
            "INVALID_CONFIG", "This job was started by an older version of Penstock. Clone it."
        )
    kept = {name: job.context[name] for name in ("profile", "decisions", "rates")}
    return _compile(tuple(job.header or ()), orjson.dumps(kept), job.config.base_currency)


def profile_of(job: Job) -> Profile:
    return plan_of(job)[0].profile


def source_of(job: Job) -> str:
    return profile_of(job).source or DEFAULT_SOURCE
