"""Whole ranges of rows: extracted in a child process, then compared with the catalog in the worker.

Rows whose product is new are written as they are. Rows that the catalog knows are compared as the
stage `match` does. Rows that may be the same product as another row wait for that stage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from orjson import loads

from penstock.catalog.products.comparison import same_key
from penstock.catalog.products.matching import Identifiers, identifiers_of
from penstock.catalog.profiles.profile import Profile
from penstock.model.decide import decide
from penstock.model.effects import CreateProducts, Effect, NameRow, NameRows, NewProduct
from penstock.model.errors import ItemError
from penstock.model.outcomes import AddedCells, Advance, Fail, Outcome, Skip
from penstock.model.pipeline import Item, Job
from penstock.model.policy import RetryPolicy
from penstock.model.ports import Context, Products
from penstock.model.ranges import RangeResult, RowRange, StoredRow
from penstock.model.states import ItemStatus
from penstock.model.text.json_text import to_json
from penstock.model.transfer import transferable
from penstock.pipelines.extraction.match import compare_with_catalog, outcome_of
from penstock.pipelines.extraction.matcher import next_step
from penstock.pipelines.extraction.plan import plan_of, source_of
from penstock.pipelines.extraction.rows import extract_row
from penstock.pipelines.extraction.unique_rows import key_column, letters_and_digits

# What the first stage made of a row: compared with the catalog at once, or later; ended here.
READY, WAITS, FAILED, SKIPPED = "RWFS"
_MATCH = 1
_NEW = b',"match":"new"}'
_POLICY = RetryPolicy()


@transferable
class PreparedRows(NamedTuple):
    """The rows of a range after the stage `extract`, in columns. Documents are JSON, one a line."""

    # One letter a row.
    kinds: str
    products: bytes
    lineages: bytes
    # The rest of the documents, after product and lineage.
    rests: bytes
    results: bytes
    problems: bytes
    # Of all rows: row number, name, how many fields are filled.
    names: list[tuple[int, str, int]]
    # Of rows that are compared at once, in their order.
    identifiers: list[tuple[str | None, ...]]
    # By row number.
    errors: dict[str, ItemError]


def prepare(job: Job, rows: RowRange) -> PreparedRows:
    """Extract the rows of a range. Runs in a child process."""
    plan, validator = plan_of(job)
    column, profile = key_column(plan), plan.profile
    made = _Columns()
    for row_no, line in enumerate(rows.lines.split(b"\n"), rows.first_row):
        cells = loads(line)
        noticed = rows.noticed.get(str(row_no))
        outcome = extract_row(Item(job, row_no, cells, noticed=noticed), plan, validator)
        kind, names = _KINDS[type(outcome)], None
        if isinstance(outcome, Advance):
            assert outcome.normalized is not None
            names = identifiers_of(outcome.normalized["product"])
            if not _is_ready(row_no, cells, names, rows.waiting, column, profile):
                kind = WAITS
        made.add(row_no, kind, outcome, names)
    return made.joined()


_KINDS: dict[type[Outcome], str] = {Advance: READY, Fail: FAILED, Skip: SKIPPED}


def _is_ready(
    row_no: int, cells: Sequence[str], names: Identifiers, waiting: frozenset[int] | None,
    column: int | None, profile: Profile,
) -> bool:  # fmt: skip
    """Whether no other row can be the same product."""
    if waiting is None or column is None or row_no in waiting or column >= len(cells):
        return False
    key = same_key(names.by(profile.key), profile.key)
    # A key from another cell, such as that of a product's first variant, was not compared.
    return key is not None and letters_and_digits(key) == letters_and_digits(cells[column])


class _Columns:
    def __init__(self) -> None:
        self._kinds: list[str] = []
        self._documents: list[tuple[str, str, str, str, str]] = []
        self._names: list[tuple[int, str, int]] = []
        self._identifiers: list[tuple[str | None, ...]] = []
        self._errors: dict[str, ItemError] = {}

    def add(self, row_no: int, kind: str, outcome: Any, names: Identifiers | None) -> None:
        kept: Mapping[str, Any] = outcome.normalized
        rest = {name: one for name, one in kept.items() if name not in ("product", "lineage")}
        self._kinds.append(kind)
        self._documents.append((
            to_json(kept["product"]), to_json(kept["lineage"]), to_json(rest)[1:],
            to_json(outcome.result), to_json(kept["problems"]),
        ))  # fmt: skip
        for effect in outcome.effects:
            assert isinstance(effect, NameRow)
            self._names += [(row_no, key, effect.filled) for key in effect.keys]
        if kind == READY:
            assert names is not None
            self._identifiers.append(tuple(names))
        elif kind == FAILED:
            self._errors[str(row_no)] = outcome.error
        elif kind == SKIPPED:
            self._errors[str(row_no)] = ItemError(outcome.code, outcome.reason)

    def joined(self) -> PreparedRows:
        products, lineages, rests, results, problems = (
            "\n".join(one).encode() for one in zip(*self._documents, strict=True)
        )
        return PreparedRows(
            "".join(self._kinds), products, lineages, rests, results, problems, self._names,
            self._identifiers, self._errors,
        )  # fmt: skip


class _RangeDocuments:
    """Documents of the rows of a range, parsed only when they are needed."""

    def __init__(self, first_row: int, texts: Sequence[bytes]) -> None:
        self._first = first_row
        self._texts = texts
        self.read: dict[int, Mapping[str, Any]] = {}

    async def need(self, rows: Sequence[int]) -> None:
        for row in rows:
            if row not in self.read:
                self.read[row] = loads(self._texts[row - self._first])


async def complete(job: Job, rows: RowRange, made: PreparedRows, ctx: Context) -> RangeResult:
    """Compare the rows with the catalog as it is now, and decide how each is stored."""
    first = rows.first_row
    products, lineages = made.products.split(b"\n"), made.lineages.split(b"\n")
    results, problems = made.results.split(b"\n"), made.problems.split(b"\n")
    documents = [
        b'{"product":%b,"lineage":%b,%b' % parts
        for parts in zip(products, lineages, made.rests.split(b"\n"), strict=True)
    ]
    ready = [n for n, kind in enumerate(made.kinds) if kind == READY]
    names = {first + n: Identifiers(*one) for n, one in zip(ready, made.identifiers, strict=True)}
    matches = await compare_with_catalog(
        job, names, _RangeDocuments(first, documents), ctx.port(Products)
    )
    stored: list[StoredRow] = []
    effects: list[tuple[int, Effect]] = []
    created: dict[str, NewProduct] = {}
    for n, kind in enumerate(made.kinds):
        row_no = first + n
        parts = (documents[n], results[n], problems[n])
        if kind != READY:
            stored.append(_ended_or_waiting(kind, parts, made.errors.get(str(row_no))))
            continue
        match = matches[row_no]
        if match.document is not None or next_step(match, job.config.intent) != "write":
            outcome = outcome_of(job, match, match.cells())
            stored.append(_stored_outcome(outcome, parts))
            effects += [(row_no, effect) for effect in outcome.effects]
            continue
        id_, sku, gtin, _ = match.names
        if id_ is None or id_ in created:
            # Another row of this range creates the product.
            stored.append(_ended_or_waiting(WAITS, parts, None))
            continue
        created[id_] = NewProduct(row_no, id_, sku, gtin, products[n], lineages[n])
        stored.append(_new_row(parts))
    if made.names:
        effects.append((first, NameRows(*zip(*made.names, strict=True))))
    if job.config.intent != "check" and created:
        effects.append((first, CreateProducts(source_of(job), list(created.values()))))
    return RangeResult(stored, effects)


_Parts = tuple[bytes, bytes, bytes]


def _ended_or_waiting(kind: str, parts: _Parts, error: ItemError | None) -> StoredRow:
    match kind:
        case "F":
            return StoredRow(ItemStatus.ERROR, 0, 1, *parts, error)
        case "S":
            return StoredRow(ItemStatus.SKIPPED, 0, 0, *parts, error)
        case _:
            return StoredRow(ItemStatus.PENDING, _MATCH, 0, *parts)


def _new_row(parts: _Parts) -> StoredRow:
    document, result, problems = parts
    shown = result[:-1] + _NEW if len(result) > len(b"{}") else b'{"match":"new"}'
    return StoredRow(ItemStatus.DONE, _MATCH, 1, document, shown, problems)


def _stored_outcome(outcome: Outcome, parts: _Parts) -> StoredRow:
    """A row that was compared with a known product, or that the intent leaves out."""
    document, result, problems = parts
    to = decide(outcome, stage=_MATCH, last_stage=_MATCH, attempts=0, policy=_POLICY, chance=0.0)
    if to.normalized is not None:
        document = to_json(to.normalized).encode()
    if isinstance(to.result, AddedCells):
        result = to_json({**loads(result), **to.result.cells}).encode()
    return StoredRow(to.status, to.stage, to.attempts, document, result, problems, to.error)
