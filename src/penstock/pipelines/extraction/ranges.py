"""Whole ranges of rows: extracted in a child process, then compared with the catalog in the worker.

Rows whose product is new are written as they are. Rows that the catalog knows are compared as the
stage `match` does. Rows that may be the same product as another row wait for that stage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

from orjson import dumps, loads

from penstock.catalog.products.by_column import ColumnNormaliser, PlainRows, column_normaliser
from penstock.catalog.products.comparison import row_digest, same_key
from penstock.catalog.products.keys import product_keys
from penstock.catalog.products.matching import Identifiers, identifiers_of
from penstock.catalog.products.plan import Plan
from penstock.catalog.products.validate import Validator
from penstock.model.decide import decide
from penstock.model.effects import (
    MAX_NAME_LENGTH,
    CreateProducts,
    Effect,
    NameRow,
    NameRows,
    NewProduct,
    ProductKeys,
    UpsertProduct,
)
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
from penstock.pipelines.extraction.plan import DEFAULT_SOURCE, plan_of, source_of
from penstock.pipelines.extraction.rows import BRIEF, extract_row, seen_names
from penstock.pipelines.extraction.unique_rows import key_column, letters_and_digits

# What the first stage made of a row: compared with the catalog at once, or later; ended here.
READY, WAITS, FAILED, SKIPPED = "RWFS"
_MATCH = 1
_POLICY = RetryPolicy()
# Members of a document that are kept apart from the rest.
_APART = ("product", "lineage", BRIEF)
# Intents that compare known products and keep what a row does not say: a row that wrote a product,
# or was merged into it, has nothing more to change.
_CHANGING = frozenset(("check", "update", "merge"))
# Rows that are normalised together: few, so that their fragments stay in the processor's cache.
_BLOCK = 500
_MAX_NORMALISERS = 16
_DIGEST = 16
_NOTHING = (b"", b"", b"", b"", b"", b"")


@transferable
class PreparedRows(NamedTuple):
    """The rows of a range after the stage `extract`, in columns. Documents are JSON, one a line."""

    # One letter a row.
    kinds: str
    products: bytes
    lineages: bytes
    # The rest of the documents, after product and lineage, and their briefs, which come last.
    rests: bytes
    briefs: bytes
    results: bytes
    problems: bytes
    # The names of all rows, in columns: row numbers, names, how many fields are filled.
    named_rows: list[int]
    names: list[str]
    filled: list[int]
    # Of rows that are compared at once, in their order: members of their identifiers, in columns.
    identifiers: list[list[str | None]]
    # … and of their keys; the words are joined by spaces.
    titles: list[str | None]
    prices: list[float | None]
    words: list[str | None]
    # … of their products, each of `_DIGEST` bytes.
    digests: bytes
    # By row number.
    errors: dict[str, ItemError]


def prepare(job: Job, rows: RowRange) -> PreparedRows:
    """Extract the rows of a range. Runs in a child process."""
    plan, validator = plan_of(job)
    lines = rows.lines.split(b"\n")
    made = _Columns(job, rows, plan, len(lines))
    normaliser = _normaliser(job, plan, validator)
    for start in range(0, len(lines), _BLOCK):
        block = lines[start : start + _BLOCK]
        cells = loads(b"[%b]" % b",".join(block))
        first = rows.first_row + start
        plain: set[int] = set()
        if normaliser is not None:
            plain = made.add_plain(first, cells, normaliser.rows(cells))
        for row_no in range(first, first + len(block)):
            if row_no not in plain:
                noticed = rows.noticed.get(str(row_no))
                item = Item(job, row_no, cells[row_no - first], noticed=noticed)
                made.add(item, extract_row(item, plan, validator))
    return made.joined()


_normalisers: dict[int, tuple[Plan, ColumnNormaliser | None]] = {}


def _normaliser(job: Job, plan: Plan, validator: Validator) -> ColumnNormaliser | None:
    """Compiled once per plan and process."""
    known = _normalisers.get(id(plan))
    if known is None or known[0] is not plan:
        if len(_normalisers) >= _MAX_NORMALISERS:
            _normalisers.clear()
        source = plan.profile.source or DEFAULT_SOURCE
        made = column_normaliser(plan, validator, job.context["columns"], source)
        known = _normalisers[id(plan)] = (plan, made)
    return known[1]


class _Columns:
    """Collects the rows of a range in their order."""

    def __init__(self, job: Job, rows: RowRange, plan: Plan, count: int) -> None:
        self._first = rows.first_row
        self._rows = rows
        self._key = plan.profile.key
        self._key_column = key_column(plan)
        self._reports_missing = bool(job.config.missing)
        self._kinds = [""] * count
        self._documents = [_NOTHING] * count
        self._names: dict[int, tuple[Sequence[str], int]] = {}
        self._ready: dict[int, tuple[Identifiers, ProductKeys]] = {}
        self._errors: dict[str, ItemError] = {}

    def add_plain(self, first: int, cells: Sequence[Sequence[str]], plain: PlainRows) -> set[int]:
        """Add rows that were normalised by column; answers their numbers."""
        added = set()
        noticed, key = self._rows.noticed, self._key
        for place, product, lineage, result, names, found in zip(*plain, strict=True):
            row_no = first + place
            if noticed and str(row_no) in noticed:
                continue
            added.add(row_no)
            n = row_no - self._first
            brief = dumps(names.brief())
            self._documents[n] = (product, lineage, b'"problems":[]', brief, result, b"[]")
            told = same_key(names.by(key), key)
            keys = [] if told is None else [f"{key}:{told}"[:MAX_NAME_LENGTH]]
            if self._reports_missing:
                keys += seen_names(names)
            self._names[row_no] = (keys, 0)
            self._place(row_no, cells[place], names, found)
        return added

    def add(self, item: Item, outcome: Outcome) -> None:
        """Add a row by its outcome in the stage `extract`."""
        assert isinstance(outcome, Advance | Fail | Skip)
        assert outcome.normalized is not None
        kept, row_no = outcome.normalized, item.row_no
        rest = {name: one for name, one in kept.items() if name not in _APART}
        product, lineage, result, problems = (
            to_json(one).encode()
            for one in (kept["product"], kept["lineage"], outcome.result, kept["problems"])
        )
        brief = to_json(kept[BRIEF]).encode() if BRIEF in kept else b""
        n = row_no - self._first
        rest_json = to_json(rest).encode()[1:-1]
        self._documents[n] = (product, lineage, rest_json, brief, result, problems)
        for effect in outcome.effects:
            assert isinstance(effect, NameRow)
            self._names[row_no] = (effect.keys, effect.filled)
        match outcome:
            case Advance():
                made = kept["product"]
                self._place(row_no, item.input, identifiers_of(made), product_keys(made))
            case Fail(error=error):
                self._kinds[n], self._errors[str(row_no)] = FAILED, error
            case Skip(code=code, reason=reason):
                self._kinds[n], self._errors[str(row_no)] = SKIPPED, ItemError(code, reason)

    def _place(
        self, row_no: int, cells: Sequence[str], names: Identifiers, keys: ProductKeys
    ) -> None:
        is_ready = self._is_ready(row_no, cells, names)
        self._kinds[row_no - self._first] = READY if is_ready else WAITS
        if is_ready:
            self._ready[row_no] = (names, keys)

    def _is_ready(self, row_no: int, cells: Sequence[str], names: Identifiers) -> bool:
        """Whether no other row can be the same product."""
        waiting, column = self._rows.waiting, self._key_column
        if waiting is None or column is None or row_no in waiting or column >= len(cells):
            return False
        cell, name = cells[column], names.by(self._key)
        if cell == name and name.isascii():
            return True
        key = same_key(name, self._key)
        # A key from another cell, such as that of a product's first variant, was not compared.
        return key is not None and letters_and_digits(key) == letters_and_digits(cell)

    def joined(self) -> PreparedRows:
        products, lineages, rests, briefs, results, problems = map(
            b"\n".join, zip(*self._documents, strict=True)
        )
        names = [
            (row_no, key, filled)
            for row_no, (keys, filled) in sorted(self._names.items())
            for key in keys
        ]
        ready = sorted(self._ready)
        identifiers, keys = (
            [self._ready[row][0] for row in ready],
            [self._ready[row][1] for row in ready],
        )
        first, documents = self._first, self._documents
        digests = b"".join([row_digest(documents[row - first][0]) for row in ready])
        return PreparedRows(
            "".join(self._kinds), products, lineages, rests, briefs, results, problems,
            [row for row, _, _ in names], [key for _, key, _ in names],
            [filled for _, _, filled in names], list(map(list, zip(*identifiers, strict=True))),
            [one.title for one in keys], [one.price for one in keys],
            [None if one.words is None else " ".join(one.words) for one in keys],
            digests, self._errors,
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
    first, catalog = rows.first_row, ctx.port(Products)
    texts = _Texts(*(column.split(b"\n") for column in made[1:7]))
    documents = [_document(*parts) for parts in zip(*texts[:4], strict=True)]
    names, keys, digests = _ready_rows(first, made)
    unchanged = await _find_unchanged(job, names, digests, catalog)
    others = {row: one for row, one in names.items() if row not in unchanged}
    matches = await compare_with_catalog(job, others, _RangeDocuments(first, documents), catalog)
    stored: list[StoredRow] = []
    effects: list[tuple[int, Effect]] = []
    created: dict[str, NewProduct] = {}
    for n, kind in enumerate(made.kinds):
        row_no = first + n
        parts = (documents[n], texts.results[n], texts.problems[n])
        known = unchanged.get(row_no)
        if kind != READY:
            stored.append(_ended_or_waiting(kind, parts, made.errors.get(str(row_no))))
        elif known is not None:
            stored.append(_matched_row((texts.with_match(n, known), *parts[1:]), b"unchanged"))
        else:
            match, digest = matches[row_no], digests[row_no]
            if match.document is not None or next_step(match, job.config.intent) != "write":
                outcome = outcome_of(job, match, match.cells())
                stored.append(_stored_outcome(outcome, parts))
                effects += [(row_no, _with_digest(one, digest)) for one in outcome.effects]
            elif match.names.id is None or match.names.id in created:
                # Another row of this range creates the product.
                stored.append(_ended_or_waiting(WAITS, parts, None))
            else:
                created[match.names.id] = texts.new_product(
                    n, row_no, match.names, keys[row_no], digest
                )
                stored.append(_matched_row(parts, b"new"))
    if made.names:
        effects.append((first, NameRows(made.named_rows, made.names, made.filled)))
    if job.config.intent != "check" and created:
        effects.append((first, CreateProducts(source_of(job), list(created.values()))))
    return RangeResult(stored, effects)


class _Texts(NamedTuple):
    """The documents of `PreparedRows`, one a row."""

    products: Sequence[bytes]
    lineages: Sequence[bytes]
    rests: Sequence[bytes]
    briefs: Sequence[bytes]
    results: Sequence[bytes]
    problems: Sequence[bytes]

    def with_match(self, n: int, known: UUID) -> bytes:
        """The document of a row whose product stays as it is, as `RowMatch.checkpoint` has it."""
        match = b'{"state":"unchanged","changes":[],"productId":"%b","by":"sourceId"}'
        told = match % str(known).encode()
        parts = (self.products[n], self.lineages[n], self.rests[n], told)
        return b'{"product":%b,"lineage":%b,%b,"match":%b}' % parts

    def new_product(
        self, n: int, row_no: int, names: Identifiers, keys: ProductKeys, digest: bytes
    ) -> NewProduct:
        product = self.products[n]
        assert names.id is not None
        return NewProduct(
            row_no, names.id, names.sku, names.gtin, product, self.lineages[n], keys, digest,
            _HIDDEN not in product,
        )  # fmt: skip


def _ready_rows(
    first: int, made: PreparedRows
) -> tuple[dict[int, Identifiers], dict[int, ProductKeys], dict[int, bytes]]:
    """Identifiers, keys and digests of the rows that are compared at once, by row number."""
    ready = [first + n for n, kind in enumerate(made.kinds) if kind == READY]
    names = list(map(Identifiers, *made.identifiers)) if ready else []
    makers = (one.maker for one in names)
    words = (one.split(" ") if one else None if one is None else [] for one in made.words)
    keys = map(ProductKeys, made.titles, made.prices, makers, words)
    starts = range(0, len(made.digests), _DIGEST)
    digests = (made.digests[start : start + _DIGEST] for start in starts)
    return (
        dict(zip(ready, names, strict=True)),
        dict(zip(ready, keys, strict=True)),
        dict(zip(ready, digests, strict=True)),
    )


async def _find_unchanged(
    job: Job, names: Mapping[int, Identifiers], digests: Mapping[int, bytes], catalog: Products
) -> dict[int, UUID]:
    """The products of rows that have nothing to change, by row number; their documents need not be
    read. Rows that may be linked to products of other sources are left to the comparison."""
    if job.config.intent not in _CHANGING:
        return {}
    rows: dict[str, int] = {}
    for row, one in names.items():
        if one.id is not None:
            rows.setdefault(one.id, row)
    asked = {id_: digests[row] for id_, row in rows.items()}
    found = await catalog.find_unchanged(job.org_id, source_of(job), asked)
    known = {rows[id_]: product for id_, product in found.items()}
    gtins = [gtin for row in known if (gtin := names[row].gtin) is not None]
    makers = [maker for row in known if (maker := names[row].maker) is not None]
    links = await catalog.link_candidates(job.org_id, source_of(job), gtins, makers)
    if links:
        linked = {name for one in links for name in (one.gtin, one.maker) if name is not None}
        known = {
            row: product
            for row, product in known.items()
            if linked.isdisjoint((names[row].gtin, names[row].maker))
        }
    return known


def _with_digest(effect: Effect, digest: bytes) -> Effect:
    return replace(effect, digest=digest) if isinstance(effect, UpsertProduct) else effect


def _document(product: bytes, lineage: bytes, rest: bytes, brief: bytes) -> bytes:
    start = b'{"product":%b,"lineage":%b,%b' % (product, lineage, rest)
    return b'%b,"brief":%b}' % (start, brief) if brief else start + b"}"


_Parts = tuple[bytes, bytes, bytes]
# No text contains this: the quotes of a text are escaped.
_HIDDEN = b'"published":false'


def _ended_or_waiting(kind: str, parts: _Parts, error: ItemError | None) -> StoredRow:
    match kind:
        case "F":
            return StoredRow(ItemStatus.ERROR, 0, 1, *parts, error)
        case "S":
            return StoredRow(ItemStatus.SKIPPED, 0, 0, *parts, error)
        case _:
            return StoredRow(ItemStatus.PENDING, _MATCH, 0, *parts)


def _matched_row(parts: _Parts, state: bytes) -> StoredRow:
    document, result, problems = parts
    start = result[:-1] + b"," if len(result) > len(b"{}") else b"{"
    shown = start + b'"match":"%b"}' % state
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
