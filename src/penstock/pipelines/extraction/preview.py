"""Preview a file: what its columns mean, and what a job would do with its first rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from penstock.catalog.mapping.column_stats import ColumnStats, add_rows, new_stats
from penstock.catalog.products.grid import flatten
from penstock.catalog.products.keys import product_keys
from penstock.catalog.products.matching import identifiers_of
from penstock.formats.tables import TableChunk, TableEnd, TableHead
from penstock.model.effects import NameRow
from penstock.model.errors import BadInput
from penstock.model.outcomes import Advance, Fail, Skip
from penstock.model.pipeline import Item, Job
from penstock.model.ports import Context, InputFile, Products, Profiles, Tally, Winner
from penstock.model.products import ProductName, RowNames, SourceMatch
from penstock.model.rows.lines import line_of
from penstock.pipelines.extraction.column_figures import column_figures
from penstock.pipelines.extraction.match import (
    Documents,
    MatchResult,
    has_groups,
    match_groups,
    match_rows,
)
from penstock.pipelines.extraction.matcher import (
    HELD,
    Document,
    Duplicate,
    Part,
    RowMatch,
    Verdict,
    next_step,
    rows_to_keep,
)
from penstock.pipelines.extraction.plan import (
    build_context,
    choose_profile,
    field_questions,
    names_products,
    naming_question,
    profile_of,
    require_naming,
    source_of,
    source_warnings,
    today,
)
from penstock.pipelines.extraction.rows import extract
from penstock.pipelines.extraction.table_shape import read_shaped
from penstock.pipelines.product_writes import UNNAMED

SHOWN_ROWS = 200
SAMPLED_ROWS = 5000
# Limits in characters, for files with wide rows.
_SHOWN_CHARS = 2 * 1024 * 1024
_SAMPLED_CHARS = 64 * 1024 * 1024
# So many rows of another source, or a third of all: is it that source's file?
_ENOUGH_ROWS = 3
_UNNAMED = {"code": "REQUIRED_MISSING", "message": UNNAMED, "severity": "error"}


def sample_file(
    path: str, options: Mapping[str, Any], limits: Mapping[str, int], most: int = SAMPLED_ROWS
) -> dict[str, Any]:
    """The first rows of a file, and column statistics of some thousand. Runs in a child process."""
    rows: list[list[str]] = []
    chars = 0
    found: dict[str, Any] = {"whole": False, "bytesRead": 0, "problems": [], "lines": ()}
    for piece in read_shaped(path, options, limits):
        if isinstance(piece, TableHead):
            found |= {"header": piece.names, "detected": piece.detected}
            found["bytesTotal"] = piece.bytes_total
        elif isinstance(piece, TableChunk):
            rows += piece.rows
            found |= {"bytesRead": piece.bytes_read, "lines": piece.lines}
            chars += sum(map(_chars, piece.rows))
            if len(rows) >= most or chars > _SAMPLED_CHARS:
                break
        elif isinstance(piece, TableEnd):
            found |= {"whole": True, "problems": piece.problems[:20]}
            found["detected"]["footer"] = found["detected"].get("footer") or piece.footer
    if not found["whole"] and found["detected"]["format"] == "csv":
        found["bytesRead"] = min(found["bytesRead"], _bytes_of(rows, found["detected"]["encoding"]))
    width = max(map(len, rows), default=len(found["header"]))
    stats = new_stats(width)
    add_rows(stats, rows)
    return {
        **found,
        "rows": _first_rows(rows),
        "sampled": len(rows),
        "stats": [one.as_json() for one in stats],
        "repeated": _count_repeated(rows, width),
    }


def _count_repeated(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """For each column, how many cells repeat the text of another one above them."""
    seen: list[set[str]] = [set() for _ in range(width)]
    repeated = [0] * width
    for row in rows:
        for place, cell in enumerate(row):
            if text := cell.strip():
                if text in seen[place]:
                    repeated[place] += 1
                else:
                    seen[place].add(text)
    return repeated


def _chars(row: Sequence[str]) -> int:
    return sum(map(len, row))


def _first_rows(rows: Sequence[list[str]]) -> list[list[str]]:
    """The first rows, at least one, up to the limit of an answer."""
    shown: list[list[str]] = []
    chars = 0
    for row in rows[:SHOWN_ROWS]:
        chars += _chars(row)
        if shown and chars > _SHOWN_CHARS:
            break
        shown.append(row)
    return shown


def _bytes_of(rows: Sequence[Sequence[str]], encoding: str) -> int:
    """Estimated size of the rows in the file, which was read beyond them."""
    text = "\n".join(map("\t".join, rows))
    return len(text.encode(encoding, "replace")) + 1


async def preview(job: Job, ctx: Context) -> dict[str, Any]:
    """What a job with this file and config would do with its first rows. Writes nothing."""
    if job.file is None:
        raise BadInput("INVALID_PARAMETERS", "A preview needs a file")
    async with ctx.blobs.local(job.file.blob_key) as path:
        head = await ctx.children.call(
            sample_file, InputFile(path), job.config.reading(), dict(ctx.limits)
        )
    if head["whole"] and not head["rows"]:
        raise BadInput(
            "NO_ROWS", "The file has a header but no rows: choose another sheet or file."
        )
    stats = [ColumnStats.from_json(one) for one in head["stats"]]
    profile, proposal, origin = await choose_profile(job, head["header"], stats, ctx.port(Profiles))
    rates = await ctx.port(Profiles).rates(job.config.base_currency, today())
    context = build_context(
        head["header"], stats, profile, proposal, origin, rates, job.config.base_currency,
        head["detected"],
    )  # fmt: skip
    context["warnings"] += await source_warnings(job, profile, ctx)
    looked_at = replace(job, header=head["header"], context=context)
    items = [Item(looked_at, number, cells) for number, cells in enumerate(head["rows"], 1)]
    outcomes = await ctx.children.call(extract, items)
    rows, earlier = await _rows(looked_at, items, outcomes, ctx)
    for row in rows:
        row["line"] = line_of(head["lines"], row["rowNo"])
    rows_in_all = estimate_rows(head)
    return {
        "reading": head["detected"] | {"problems": head["problems"]},
        "header": head["header"],
        "rowsSampled": head["sampled"],
        "rowsEstimated": rows_in_all,
        "profile": {"name": profile.name, "version": profile.version, "from": origin},
        "source": source_of(looked_at),
        "earlierSource": None if earlier is None else asdict(earlier),
        "warnings": context["warnings"],
        "questions": [asked] if (asked := naming_question(context)) else field_questions(context),
        "mapping": context["mapping"],
        "notes": [*context["notes"], *(one["message"] for one in context["warnings"])],
        "columns": context["columns"],
        "rows": rows,
        "columnFigures": _column_figures(context["mapping"], rows),
        "summary": _summary(rows)
        | {"duplicatesEstimate": _duplicates_estimate(head, looked_at, rows_in_all)},
    }


async def check_first_rows(job: Job, ctx: Context) -> None:
    """Raise BadInput for a file whose first rows show that no column names its products."""
    if job.file is None or names_products(job.config.mapping):
        return
    reading, limits = job.config.reading(), dict(ctx.limits)
    async with ctx.blobs.local(job.file.blob_key) as path:
        head = await ctx.children.call(sample_file, InputFile(path), reading, limits, SHOWN_ROWS)
    stats = [ColumnStats.from_json(one) for one in head["stats"]]
    if not head["rows"]:
        return
    profile, proposal, origin = await choose_profile(job, head["header"], stats, ctx.port(Profiles))
    base = job.config.base_currency
    require_naming(
        build_context(head["header"], stats, profile, proposal, origin, (), base, head["detected"])
    )


def estimate_rows(head: Mapping[str, Any]) -> int:
    """The number of rows: exact if the whole file was read, else estimated by bytes."""
    if head["whole"] or not head["bytesRead"]:
        return int(head["sampled"])
    return int(head["sampled"] * max(1.0, head["bytesTotal"] / head["bytesRead"]))


class _SampledRows:
    """The rows of a preview as `FileRows`: what a job would store of them."""

    def __init__(self, outcomes: Mapping[int, Advance]) -> None:
        self.kept: dict[int, Document] = {
            row: dict(one.normalized or {}) for row, one in outcomes.items()
        }
        self._named = {
            row: effect
            for row, one in outcomes.items()
            for effect in one.effects
            if isinstance(effect, NameRow)
        }

    async def rows_named(
        self, job_id: UUID, keys: Sequence[str], most: int
    ) -> Mapping[str, Sequence[int]]:
        named: dict[str, list[int]] = {}
        for row, effect in self._named.items():
            for key in effect.keys:
                named.setdefault(key, []).append(row)
        return {key: sorted(named[key])[:most] for key in keys if key in named}

    async def row_to_keep(
        self, job_id: UUID, keys: Sequence[str], winner: Winner
    ) -> Mapping[str, int]:
        kept = rows_to_keep(self._named, winner)
        return {key: kept[key] for key in keys if key in kept}

    async def documents(self, job_id: UUID, rows: Sequence[int]) -> Mapping[int, Document]:
        return {row: self.kept[row] for row in rows if row in self.kept}


async def _match(job: Job, sample: _SampledRows, ctx: Context) -> MatchResult:
    """Match the rows of the sample as the stage `match` does."""
    if has_groups(job):
        return await match_groups(job, list(sample.kept), sample, ctx.port(Products))
    products = {row: one["product"] for row, one in sample.kept.items()}
    names = {row: identifiers_of(product) for row, product in products.items()}
    documents = Documents(job.id, sample)
    verdicts = await match_rows(job, names, names, documents, sample, ctx.port(Products))
    return MatchResult({**verdicts}, products)


async def _earlier_source(
    job: Job, verdicts: Mapping[int, Verdict], products: Mapping[int, Document], ctx: Context
) -> SourceMatch | None:
    """The source that the file probably belongs to, where none of its rows is a product of the
    chosen one. Two suppliers may sell the same article, but not under the same id."""
    matches = {row: one for row, one in verdicts.items() if isinstance(one, RowMatch)}
    if any(one.existing is not None for one in matches.values()):
        return None
    rows = [
        RowNames(one.names.id, product_keys(products[row]).title, one.names.gtin)
        for row, one in matches.items()
        if one.names.id is not None
    ]
    found = await ctx.port(Products).source_with(job.org_id, source_of(job), rows)
    enough = min(_ENOUGH_ROWS, len(rows) / 3)
    return found if found is not None and found.rows >= enough else None


async def _rows(
    job: Job, items: Sequence[Item], outcomes: Sequence[Any], ctx: Context
) -> tuple[list[dict[str, Any]], SourceMatch | None]:
    advanced = {
        item.row_no: one
        for item, one in zip(items, outcomes, strict=True)
        if isinstance(one, Advance)
    }
    verdicts, products = await _match(job, _SampledRows(advanced), ctx)
    rows = []
    for item, outcome in zip(items, outcomes, strict=True):
        row = {
            "rowNo": item.row_no,
            "cells": item.input,
            "verdict": _verdict(outcome),
            "result": outcome.result,
            "problems": (outcome.normalized or {}).get("problems", []),
            "match": None,
            "changes": [],
            "links": [],
            "product": None,
            "held": None,
        }
        if item.row_no in verdicts:
            row["result"] = flatten(products[item.row_no], job.context["columns"])
            row |= _shown_match(job, verdicts[item.row_no], row["problems"])
        rows.append(row)
    return rows, await _earlier_source(job, verdicts, products, ctx)


def _shown_match(job: Job, verdict: Verdict, problems: Sequence[Any]) -> dict[str, Any]:
    if isinstance(verdict, Part):
        return {"match": "part", "partOf": verdict.parent}
    if isinstance(verdict, Duplicate):
        return {"match": "duplicate", "duplicateOf": verdict.kept}
    shown: dict[str, Any] = {
        "match": verdict.state,
        "changes": verdict.changes,
        "links": [link.as_json() for link in verdict.links],
        "held": None if verdict.held is None else verdict.held.as_json(),
    }
    name = _product_name(job, verdict)
    if name is not None:
        shown["product"] = {"source": name.source, "sourceId": name.source_id}
    intent = job.config.intent
    if intent != "check" and next_step(verdict, intent) == "unnamed":
        shown |= {"verdict": "invalid", "problems": [*problems, _UNNAMED]}
    return shown


def _product_name(job: Job, match: RowMatch) -> ProductName | None:
    """The name that the row's product has, or will have, in the catalog."""
    if match.existing is not None:
        return ProductName(match.existing.source, match.existing.source_id)
    return None if match.names.id is None else ProductName(source_of(job), match.names.id)


def _verdict(outcome: Any) -> str:
    match outcome:
        case Advance():
            return "valid"
        case Fail():
            return "invalid"
        case Skip():
            return "discarded"
    return "unknown"


def _summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Counts of the rows shown."""
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
    }


def _column_figures(
    mapping: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Figures of each column in the rows shown."""
    problems: dict[str, list[dict[str, Any]]] = {}
    changes: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        for one in row["problems"]:
            told = {"severity": one.get("severity", "error"), "count": 1}
            problems.setdefault(one.get("column") or "", []).append(told)
        changes[tuple(one["field"] for one in row["changes"])] += 1
    filled = [
        sum(1 for row in rows if place < len(row["cells"]) and row["cells"][place].strip())
        for place in range(len(mapping))
    ]
    counted = [
        {**one, "filled": many, "empty": len(rows) - many}
        for one, many in zip(mapping, filled, strict=True)
    ]
    return column_figures(counted, Tally({}, problems, 0, changes))


def _duplicates_estimate(head: Mapping[str, Any], job: Job, row_estimate: int) -> int | None:
    """Duplicates of the whole file as far as the sample shows; None if no column contains the
    key."""
    target = {"sku": "identifiers.sku", "gtin": "identifiers.gtin"}.get(
        profile_of(job).key, "sourceId"
    )
    for column, repeated in zip(job.context["mapping"], head["repeated"], strict=False):
        if column["target"] == target:
            return round(int(repeated) * row_estimate / int(head["sampled"]))
    return None
