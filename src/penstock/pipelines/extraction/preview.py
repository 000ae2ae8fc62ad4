"""A look at a file before a job is made of it: what it is, what its columns mean, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from penstock.catalog.mapping.column_stats import ColumnStats, add_rows, gather
from penstock.catalog.products.duplicates import Duplicates
from penstock.catalog.products.matching import Candidates, names_of
from penstock.catalog.products.variants import Member, group
from penstock.formats.read_table import read_table
from penstock.formats.tables import TableChunk, TableEnd, TableHead
from penstock.model.errors import BadInput
from penstock.model.outcomes import Advance, Fail, Skip
from penstock.model.pipeline import Item, Job
from penstock.model.ports import Context, InputFile
from penstock.pipelines.extraction.match import UNNAMED
from penstock.pipelines.extraction.plan import (
    choose_profile,
    learnt,
    names_products,
    naming_question,
    plan_of,
    profile_of,
    require_naming,
    source_warnings,
    today,
)
from penstock.pipelines.extraction.rows import GROUP, extract
from penstock.pipelines.extraction.verdict import HELD, find_candidates, judge, source_of

SHOWN_ROWS = 200
SAMPLED_ROWS = 5000
# Characters of cells; of a file with wide rows fewer are shown, and fewer sampled.
_SHOWN_CHARS = 2 * 1024 * 1024
_SAMPLED_CHARS = 64 * 1024 * 1024
_UNNAMED = {"code": "REQUIRED_MISSING", "message": UNNAMED, "severity": "error"}


def sample_file(
    path: str, options: Mapping[str, Any], limits: Mapping[str, int], most: int = SAMPLED_ROWS
) -> dict[str, Any]:
    """The head of a file: its first rows, and what the cells of some thousand tell of their
    columns. Runs in a child process."""
    rows: list[list[str]] = []
    chars = 0
    found: dict[str, Any] = {"whole": False, "bytesRead": 0, "problems": []}
    for piece in read_table(path, options, limits):
        if isinstance(piece, TableHead):
            found |= {"header": piece.names, "detected": piece.detected}
            found["bytesTotal"] = piece.bytes_total
        elif isinstance(piece, TableChunk):
            rows += piece.rows
            found["bytesRead"] = piece.bytes_read
            chars += sum(map(_chars, piece.rows))
            if len(rows) >= most or chars > _SAMPLED_CHARS:
                break
        elif isinstance(piece, TableEnd):
            found |= {"whole": True, "problems": piece.problems[:20]}
            found["detected"]["footer"] = found["detected"].get("footer") or piece.footer
    if not found["whole"] and found["detected"]["format"] == "csv":
        found["bytesRead"] = min(found["bytesRead"], _bytes_of(rows, found["detected"]["encoding"]))
    stats = gather(max(map(len, rows), default=len(found["header"])))
    add_rows(stats, rows)
    return {
        **found,
        "rows": _shown(rows),
        "sampled": len(rows),
        "stats": [one.as_json() for one in stats],
    }


def _chars(row: Sequence[str]) -> int:
    return sum(map(len, row))


def _shown(rows: Sequence[list[str]]) -> list[list[str]]:
    """The first rows, one at least, as many as an answer should carry."""
    shown: list[list[str]] = []
    chars = 0
    for row in rows[:SHOWN_ROWS]:
        chars += _chars(row)
        if shown and chars > _SHOWN_CHARS:
            break
        shown.append(row)
    return shown


def _bytes_of(rows: Sequence[Sequence[str]], encoding: str) -> int:
    """About what the rows took in their file, which was read further than they go."""
    text = "\n".join(map("\t".join, rows))
    return len(text.encode(encoding, "replace")) + 1


async def preview(job: Job, ctx: Context) -> dict[str, Any]:
    """What a job of this file and config would do, by its first rows. Nothing is written."""
    if job.file is None:
        raise BadInput("INVALID_PARAMETERS", "A preview needs a file")
    path = InputFile(ctx.blobs.path(job.file.blob_key))
    head = await ctx.children.call(sample_file, path, job.config.reading(), dict(ctx.limits))
    if head["whole"] and not head["rows"]:
        raise BadInput(
            "NO_ROWS", "The file has a header but no rows: choose another sheet or file."
        )
    stats = [ColumnStats.from_json(one) for one in head["stats"]]
    profile, proposal, origin = await choose_profile(job, head["header"], stats, ctx.catalog)
    rates = await ctx.catalog.rates(job.config.base_currency, today())
    context = learnt(
        head["header"], stats, profile, proposal, origin, rates, job.config.base_currency,
        head["detected"],
    )  # fmt: skip
    context["warnings"] += await source_warnings(job, profile, ctx)
    looked_at = replace(job, header=head["header"], context=context)
    items = [Item(looked_at, number, cells) for number, cells in enumerate(head["rows"], 1)]
    outcomes = await ctx.children.call(extract, items)
    rows = await _rows(looked_at, items, outcomes, ctx)
    rows_in_all = estimated(head)
    return {
        "reading": head["detected"] | {"problems": head["problems"]},
        "header": head["header"],
        "rowsSampled": head["sampled"],
        "rowsEstimated": rows_in_all,
        "profile": {"name": profile.name, "version": profile.version, "from": origin},
        "source": source_of(looked_at),
        "warnings": context["warnings"],
        "questions": [asked] if (asked := naming_question(context)) else [],
        "mapping": context["mapping"],
        "notes": [*context["notes"], *(one["message"] for one in context["warnings"])],
        "columns": context["columns"],
        "rows": rows,
        "summary": _summary(rows, stats, looked_at, rows_in_all),
    }


async def check_first_rows(job: Job, ctx: Context) -> None:
    """Refuse a file whose first rows show that no column names its products."""
    if job.file is None or names_products(job.config.mapping):
        return
    path = InputFile(ctx.blobs.path(job.file.blob_key))
    reading, limits = job.config.reading(), dict(ctx.limits)
    head = await ctx.children.call(sample_file, path, reading, limits, SHOWN_ROWS)
    stats = [ColumnStats.from_json(one) for one in head["stats"]]
    if not head["rows"]:
        return
    profile, proposal, origin = await choose_profile(job, head["header"], stats, ctx.catalog)
    base = job.config.base_currency
    require_naming(
        learnt(head["header"], stats, profile, proposal, origin, (), base, head["detected"])
    )


def estimated(head: Mapping[str, Any]) -> int:
    """How many rows the file has: exactly, if all of it was read, else by bytes."""
    if head["whole"] or not head["bytesRead"]:
        return int(head["sampled"])
    return int(head["sampled"] * max(1.0, head["bytesTotal"] / head["bytesRead"]))


async def _rows(
    job: Job, items: Sequence[Item], outcomes: Sequence[Any], ctx: Context
) -> list[dict[str, Any]]:
    documents = [dict(outcome.normalized or {}) for outcome in outcomes]
    products = [one["product"] for one in documents if "product" in one]
    candidates = await find_candidates(job, [names_of(one) for one in products], ctx)
    advanced = {
        number: one
        for number, (outcome, one) in enumerate(zip(outcomes, documents, strict=True), 1)
        if isinstance(outcome, Advance)
    }
    parents = _parents(job, advanced)
    losers = Duplicates(profile_of(job).key, profile_of(job).winner)
    for number, one in advanced.items():
        if number not in parents:
            losers.add(number, one["product"])
    doubled = {loser.row: loser.kept for loser in losers.losers()}
    rows = []
    for number, (outcome, one) in enumerate(zip(outcomes, documents, strict=True), 1):
        row = {
            "rowNo": number,
            "cells": items[number - 1].input,
            "verdict": _verdict(outcome),
            "result": outcome.result,
            "problems": one.get("problems", []),
            "match": None,
            "changes": [],
            "links": [],
            "held": None,
        }
        if number in parents:
            row |= {"match": "part", "partOf": parents[number]}
        elif number in doubled:
            row |= {"match": "duplicate", "duplicateOf": doubled[number]}
        elif number in advanced:
            row |= _judged(job, one, candidates, row["problems"])
        rows.append(row)
    return rows


def _judged(
    job: Job, document: Mapping[str, Any], candidates: Candidates, problems: Sequence[Any]
) -> dict[str, Any]:
    """As the stages judge it."""
    names = names_of(document["product"])
    match = candidates.match(names)
    judged = judge(job, names, match, candidates.links(names, match), document)
    told: dict[str, Any] = {
        "match": judged.state,
        "changes": judged.changes,
        "links": [link.as_json() for link in judged.links],
        "held": None if judged.held is None else judged.held.as_json(),
    }
    unnamed = names.id is None and judged.existing is None
    if unnamed and job.config.intent not in ("check", "update"):
        told |= {"verdict": "invalid", "problems": [*problems, _UNNAMED]}
    return told


def _parents(job: Job, documents: Mapping[int, Mapping[str, Any]]) -> dict[int, int]:
    """Rows that are parts of another one's product, with that one."""
    if GROUP not in plan_of(job)[0].targets:
        return {}
    members = [
        Member(row, one["product"], one.get("group", {}).get("name"),
               one.get("group", {}).get("continues", False))
        for row, one in documents.items()
    ]  # fmt: skip
    return {row: one.rows[0] for one in group(members) for row in one.rows[1:]}


def _verdict(outcome: Any) -> str:
    match outcome:
        case Advance():
            return "valid"
        case Fail():
            return "invalid"
        case Skip():
            return "discarded"
    return "unknown"


def _summary(
    rows: Sequence[Mapping[str, Any]], stats: Sequence[ColumnStats], job: Job, estimated: int
) -> dict[str, Any]:
    """Of the rows shown; duplicates are estimated for the whole file from the sampled ones."""
    codes: dict[str, int] = {}
    for row in rows:
        for problem in row["problems"]:
            codes[problem["code"]] = codes.get(problem["code"], 0) + 1
    counts = {
        verdict: sum(row["verdict"] == verdict for row in rows)
        for verdict in ("valid", "invalid", "discarded")
    }
    states = {
        state: sum(row["match"] == state for row in rows)
        for state in ("new", "changed", "unchanged", "duplicate", "part", HELD)
    }
    return {
        **counts,
        **states,
        "linked": sum(bool(row["links"]) for row in rows),
        "problems": codes,
        "duplicatesEstimate": _doubles(stats, job, estimated),
    }


def _doubles(stats: Sequence[ColumnStats], job: Job, estimated: int) -> int | None:
    """None where no column holds the key by which duplicates are known."""
    target = {"sku": "identifiers.sku", "gtin": "identifiers.gtin"}.get(
        profile_of(job).key, "sourceId"
    )
    for column, one in zip(job.context["mapping"], stats, strict=False):
        if column["target"] == target and one.filled:
            share = max(0, one.filled - one.distinct) / one.filled
            return round(share * one.fill * estimated)
    return None
