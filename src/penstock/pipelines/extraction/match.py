"""The stage `match`: read what `matcher` needs, and turn its verdicts into outcomes and effects."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from penstock.catalog.products.grid import MATCH, flatten
from penstock.catalog.products.matching import Candidates, Identifiers, identifiers_of
from penstock.model.errors import ItemError
from penstock.model.outcomes import AddedCells, Fail, Outcome, Shown, Skip
from penstock.model.pipeline import Item, Job
from penstock.model.ports import Context, JobRows, Products, Winner
from penstock.pipelines.extraction.matcher import (
    MAX_VARIANTS,
    Document,
    Duplicate,
    MatchSettings,
    Part,
    RowMatch,
    Verdict,
    compare_rows,
    duplicate_keys,
    find_duplicates,
    find_known,
    group_keys,
    group_rows,
)
from penstock.pipelines.extraction.plan import plan_of, source_of
from penstock.pipelines.extraction.rows import GROUPS
from penstock.pipelines.product_writes import find_candidates, written_outcome


class FileRows(Protocol):
    """The rows of a file: stored ones of a job (the `JobRows` port), or those of a sample."""

    async def rows_named(
        self, job_id: UUID, keys: Sequence[str], most: int
    ) -> Mapping[str, Sequence[int]]: ...
    async def row_to_keep(
        self, job_id: UUID, keys: Sequence[str], winner: Winner
    ) -> Mapping[str, int]: ...
    async def documents(
        self, job_id: UUID, rows: Sequence[int]
    ) -> Mapping[int, Mapping[str, Any]]: ...


def match_settings(job: Job) -> MatchSettings:
    profile = plan_of(job)[0].profile
    return MatchSettings(
        job.id, source_of(job), profile.key, profile.winner, job.config.intent,
        profile.price_guard, job.config.missing == "unpublish",
    )  # fmt: skip


def has_groups(job: Job) -> bool:
    """Whether rows can be variants of one product."""
    return not GROUPS.isdisjoint(plan_of(job)[0].targets)


class NeededDocuments(Protocol):
    """Documents of rows, loaded on demand."""

    read: dict[int, Document]

    async def need(self, rows: Sequence[int]) -> None: ...


class Documents:
    """Documents of stored rows, each loaded only when it is needed."""

    def __init__(self, job_id: UUID, rows: FileRows) -> None:
        self._job_id = job_id
        self._rows = rows
        self.read: dict[int, Document] = {}

    async def need(self, rows: Sequence[int]) -> None:
        unread = [row for row in rows if row not in self.read]
        if unread:
            self.read |= await self._rows.documents(self._job_id, unread)


class MatchResult(NamedTuple):
    """The verdict on each row, and its product: that of the whole group for a row that stands for
    one, else that of the row itself."""

    verdicts: dict[int, Verdict]
    products: Mapping[int, Mapping[str, Any]]


async def match_rows(
    job: Job, names: Mapping[int, Identifiers], repeatable: Collection[int], documents: Documents,
    rows: FileRows, catalog: Products,
) -> dict[int, Duplicate | RowMatch]:  # fmt: skip
    """Match rows that are a product each. Only ``repeatable`` ones can have duplicates."""
    settings = match_settings(job)
    keys = duplicate_keys({row: names[row] for row in repeatable}, settings.key)
    kept: Mapping[str, int] = {}
    if keys:
        kept = await rows.row_to_keep(job.id, sorted(set(keys.values())), settings.winner)
    duplicates = find_duplicates(keys, kept)
    others = {row: one for row, one in names.items() if row not in duplicates}
    return {**duplicates, **await compare_with_catalog(job, others, documents, catalog)}


async def match_groups(
    job: Job, numbers: Sequence[int], rows: FileRows, catalog: Products
) -> MatchResult:
    """Match rows that may be variants of one product."""
    documents = await rows.documents(job.id, numbers)
    named = await rows.rows_named(job.id, group_keys(documents.values()), MAX_VARIANTS)
    listed = {row for members in named.values() for row in members}
    # Rows of the same group can be in other slices: their documents are read, not changed.
    siblings = await rows.documents(job.id, sorted(listed - set(documents)))
    products, parts = group_rows(documents, siblings, listed)
    names = {row: identifiers_of(product) for row, product in products.items()}
    read = Documents(job.id, rows)
    read.read = {row: {**documents[row], "product": one} for row, one in products.items()}
    matched = await match_rows(job, names, names, read, rows, catalog)
    for row, one in matched.items():
        is_same = products[row] is documents[row]["product"] and MATCH not in documents[row]
        if isinstance(one, RowMatch) and one.existing is None and not one.links and is_same:
            matched[row] = RowMatch(one.names)
    own = {row: one["product"] for row, one in documents.items()}
    return MatchResult({**parts, **matched}, {**own, **products})


async def compare_with_catalog(
    job: Job, names: Mapping[int, Identifiers], documents: NeededDocuments, catalog: Products
) -> dict[int, RowMatch]:
    """Compare rows with the catalog as it is now. Only rows that are not new need documents."""
    found = find_known(names, await _candidates(job, names, catalog))
    await documents.need([row for row in names if not found[row].is_new])
    return compare_rows(names, found, documents.read, match_settings(job))


async def _candidates(job: Job, names: Mapping[int, Identifiers], catalog: Products) -> Candidates:
    job_id = job.id if plan_of(job)[0].is_grouped_by_handle else None
    return await find_candidates(job.org_id, source_of(job), list(names.values()), catalog, job_id)


async def match(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Find rows that are the same product, and compare each product with the catalog."""
    outcomes: dict[int, Outcome] = {}
    for job, members in _by_job(batch):
        items = [item for _, item in members]
        if has_groups(job):
            found = await _match_grouped_items(job, items, ctx)
        else:
            found = await _match_items(job, items, ctx)
        outcomes |= {place: found[item.row_no] for place, item in members}
    return [outcomes[place] for place in range(len(batch))]


def _by_job(batch: Sequence[Item]) -> list[tuple[Job, list[tuple[int, Item]]]]:
    by_job: dict[UUID, list[tuple[int, Item]]] = {}
    for place, item in enumerate(batch):
        by_job.setdefault(item.job.id, []).append((place, item))
    return [(members[0][1].job, members) for members in by_job.values()]


async def _match_items(job: Job, items: Sequence[Item], ctx: Context) -> dict[int, Outcome]:
    """The brief of a checkpoint is enough, unless the catalog has the product."""
    documents = Documents(job.id, ctx.port(JobRows))
    names = await _names(items, documents)
    verdicts = await match_rows(job, names, names, documents, ctx.port(JobRows), ctx.port(Products))
    outcomes: dict[int, Outcome] = {}
    for row, verdict in verdicts.items():
        if isinstance(verdict, Duplicate):
            outcomes[row] = _duplicate(verdict, AddedCells({MATCH: "duplicate"}))
        else:
            outcomes[row] = outcome_of(job, verdict, verdict.cells())
    return outcomes


async def _match_grouped_items(job: Job, items: Sequence[Item], ctx: Context) -> dict[int, Outcome]:
    columns = job.context["columns"]
    numbers = [item.row_no for item in items]
    verdicts, products = await match_groups(job, numbers, ctx.port(JobRows), ctx.port(Products))
    outcomes: dict[int, Outcome] = {}
    for row, verdict in verdicts.items():
        result = flatten(products[row], columns)
        if isinstance(verdict, Part):
            outcomes[row] = _part(verdict, result)
        elif isinstance(verdict, Duplicate):
            outcomes[row] = _duplicate(verdict, {**result, MATCH: "duplicate"})
        else:
            outcomes[row] = outcome_of(job, verdict, {**result, **verdict.cells().cells})
    return outcomes


async def _names(items: Sequence[Item], documents: Documents) -> dict[int, Identifiers]:
    """The identifiers of each row: in its brief, or in its document."""
    await documents.need([item.row_no for item in items if item.normalized is None])
    return {
        item.row_no: identifiers_of(documents.read[item.row_no]["product"])
        if item.normalized is None
        else Identifiers(**item.normalized)
        for item in items
    }


def _duplicate(verdict: Duplicate, result: Any) -> Outcome:
    why = f"The same product as in row {verdict.kept}, which is kept"
    return Skip(why, result, code="DUPLICATE_IN_FILE")


def _part(verdict: Part, result: Mapping[str, Any]) -> Outcome:
    if verdict.parent is None:
        why = f"More than {MAX_VARIANTS:,} rows name the same parent: map that column differently"
        return Fail(ItemError("GROUP_TOO_LARGE", why), result)
    why = f"Part of the product in row {verdict.parent}"
    return Skip(why, {**result, MATCH: "part"}, code="PART_OF_PRODUCT")


def outcome_of(job: Job, row: RowMatch, result: Shown) -> Outcome:
    """What becomes of a row that was compared with the catalog: written, as the intent allows."""
    return written_outcome(row, job.config.intent, source_of(job), result)
