"""Match rows of a file with each other and with known products, and decide what becomes of them.

Pure functions of rows, known products and settings. The stages `match` and `apply` and the preview
all decide with them; they only differ in where they read rows from (`match.py`, `preview.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from uuid import UUID

from penstock.catalog.products.comparison import Change, diff, same_key
from penstock.catalog.products.editing import kept_values, with_kept
from penstock.catalog.products.grid import LINKS, MATCH, merged
from penstock.catalog.products.matching import Candidates, Identifiers, Link, Match
from penstock.catalog.products.price_guard import suspicious_change
from penstock.catalog.products.variants import VariantRow, group
from penstock.catalog.profiles.checks import Key, Winner
from penstock.model.effects import MAX_NAME_LENGTH, NameRow
from penstock.model.held_rows import ACCEPTED, GTIN_HELD, PRICE_HELD
from penstock.model.outcomes import AddedCells
from penstock.model.products import PUBLISHED, KnownProduct
from penstock.pipelines.extraction.rows import BRIEF, own_names

HELD = "held"
KEPT = "kept"
# More rows with the same parent are not variants: the column means something else.
MAX_VARIANTS = 1000
_MAX_CHANGES = 50
# Intents that never change a known product, so nothing can be held back.
_WRITES_NEW_ONLY = frozenset(("create", "ignoreExisting"))

Document = Mapping[str, Any]
Step = Literal["not_in_catalog", "exists_already", "unchanged", "held", "unnamed", "write"]


class MatchSettings(NamedTuple):
    """Everything about a job that decides how its rows match."""

    job_id: UUID
    source: str
    key: Key
    winner: Winner
    intent: str
    price_guard: float
    unpublishes_missing: bool = False


class Part(NamedTuple):
    """The row belongs to the product of row ``parent``; None: too many rows name that parent."""

    parent: int | None


class Duplicate(NamedTuple):
    """The row is the same product as row ``kept``."""

    kept: int


class HeldReason(NamedTuple):
    """Why a person must confirm a row before it is written."""

    code: str
    message: str
    # The supplier's column of the new value.
    column: str | None
    details: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        return {**self.details, "code": self.code, "message": self.message, "column": self.column}


class RowMatch(NamedTuple):
    """How a row's product compares with the catalog. ``document`` is None if the stored checkpoint
    stays as it is: the product is new and has no links."""

    names: Identifiers
    state: str = "new"
    changes: Sequence[Mapping[str, Any]] = ()
    match: Match = Match()
    document: Document | None = None
    links: Sequence[Link] = ()
    held: HeldReason | None = None
    # Edited fields that stay as they are although the file has another value.
    kept: Sequence[Mapping[str, Any]] = ()

    @property
    def existing(self) -> KnownProduct | None:
        return self.match.product

    def cells(self) -> AddedCells:
        """The cells of the grid that show the match."""
        cells: dict[str, Any] = {MATCH: self.state}
        if self.links:
            cells[LINKS] = len(self.links)
        elif self.document is not None and LINKS in (self.document.get(MATCH) or {}):
            # Remove the links of an earlier run.
            cells[LINKS] = None
        return AddedCells(cells)

    def checkpoint(self) -> Document | None:
        """The new checkpoint of the row; None if the stored one is still right."""
        if self.document is None:
            return None
        # Without the brief, the next stage reads the whole document.
        kept = {name: one for name, one in self.document.items() if name not in (MATCH, BRIEF)}
        if self.existing is None and not self.links:
            return kept
        return {**kept, MATCH: self.as_json()}

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"state": self.state, "changes": list(self.changes)}
        if self.existing is not None:
            shown |= {"productId": str(self.existing.id), "by": self.match.by}
        if self.links:
            shown[LINKS] = [link.as_json() for link in self.links]
        if self.held is not None:
            shown[HELD] = self.held.as_json()
        if self.kept:
            shown[KEPT] = list(self.kept)
        return shown


Verdict = Part | Duplicate | RowMatch


class GroupedRows(NamedTuple):
    """The product of each row that stands for one, and the rows that are part of another's."""

    products: dict[int, Mapping[str, Any]]
    parts: dict[int, Part]


def group_keys(documents: Iterable[Document]) -> list[str]:
    """The names (`NameRow`) by which rows of the same products are found."""
    names = {
        name
        for one in documents
        for name in ([one["group"]["name"]] if "group" in one else own_names(one["product"]))
    }
    return [f"{kind}:{name}"[:MAX_NAME_LENGTH] for name in names for kind in ("group", "parent")]


def group_rows(
    documents: Mapping[int, Document], siblings: Mapping[int, Document], listed: Collection[int]
) -> GroupedRows:
    """Combine rows that are variants of one product; the first row of a group stands for it.

    ``siblings`` are rows of the same groups outside ``documents``. ``listed`` are the rows found by
    `group_keys`: a part that is not among them is beyond `MAX_VARIANTS`.
    """
    members = [
        VariantRow(row, one["product"], one.get("group", {}).get("name"),
               one.get("group", {}).get("continues", False))
        for row, one in sorted({**siblings, **documents}.items())
    ]  # fmt: skip
    grouped = GroupedRows({}, {})
    for one in group(members):
        parent = one.rows[0]
        if parent in documents:
            grouped.products[parent] = one.product
        for row in one.rows[1:]:
            if row in documents:
                grouped.parts[row] = Part(parent if row in listed else None)
    return grouped


def duplicate_keys(names: Mapping[int, Identifiers], key: Key) -> dict[int, str]:
    """The name (`NameRow`) that a row shares with its duplicates; rows without a key have none."""
    keys = {row: same_key(one.by(key), key) for row, one in names.items()}
    return {row: f"{key}:{one}"[:MAX_NAME_LENGTH] for row, one in keys.items() if one}


def find_duplicates(keys: Mapping[int, str], kept: Mapping[str, int]) -> dict[int, Duplicate]:
    """Rows that lose to another row of the same key; ``kept`` is the winner of each key."""
    return {row: Duplicate(kept[key]) for row, key in keys.items() if kept.get(key, row) != row}


def rows_to_keep(named: Mapping[int, NameRow], winner: Winner) -> dict[str, int]:
    """The winner of each name among these rows, as the database chooses it for a whole job."""
    kept: dict[str, int] = {}
    for row in sorted(named, reverse=winner == "last"):
        for key in named[row].keys:
            best = kept.setdefault(key, row)
            if winner == "most_complete" and named[row].filled > named[best].filled:
                kept[key] = row
    return kept


class KnownMatch(NamedTuple):
    """The known product of a row, and products that it may be linked to."""

    match: Match
    links: Sequence[Link]

    @property
    def is_new(self) -> bool:
        return self.match.product is None and not self.links


_NEW = KnownMatch(Match(), ())


def find_known(names: Mapping[int, Identifiers], known: Candidates) -> dict[int, KnownMatch]:
    if known.is_empty:
        return dict.fromkeys(names, _NEW)
    found = {}
    for row, one in names.items():
        match = known.match(one)
        found[row] = KnownMatch(match, known.links(one, match))
    return found


def compare_rows(
    names: Mapping[int, Identifiers],
    found: Mapping[int, KnownMatch],
    documents: Mapping[int, Document],
    settings: MatchSettings,
) -> dict[int, RowMatch]:
    """How each row compares with its known product. ``documents`` may lack rows that are new."""
    return {
        row: RowMatch(one)
        if row not in documents
        else compare_row(one, found[row], documents[row], settings)
        for row, one in names.items()
    }


def compare_row(
    names: Identifiers, found: KnownMatch, document: Document, settings: MatchSettings
) -> RowMatch:
    existing = found.match.product
    state, changes = _compare(document["product"], existing, settings)
    held = None
    if existing is not None and state == "changed":
        held = _hold(document, found.match, changes, settings)
    shown = [change._asdict() for change in changes[:_MAX_CHANGES]]
    state = HELD if held else state
    kept: list[Mapping[str, Any]] = []
    if existing is not None and existing.kept:
        other_values = kept_values(document["product"], existing.data, existing.kept)
        kept = [{"field": one.field, "kept": one.before, "file": one.after} for one in other_values]
    return RowMatch(names, state, shown, found.match, document, found.links, held, kept)


def next_step(match: RowMatch, intent: str) -> Step:
    """What the intent makes of a row that matched like this."""
    if match.existing is None and intent == "update":
        return "not_in_catalog"
    if match.existing is not None and intent in _WRITES_NEW_ONLY:
        return "exists_already"
    if match.state == "unchanged":
        return "unchanged"
    if match.held is not None:
        return "held"
    return "unnamed" if match.names.id is None and match.existing is None else "write"


def written_over(
    existing: KnownProduct, product: Mapping[str, Any], intent: str
) -> Mapping[str, Any]:
    """The existing product after the row is written. It keeps its id, source and source id, and
    fields that a person has edited."""
    product = with_kept(product, existing.data, existing.kept)
    data = {**product, "id": existing.data.get("id"), "source": existing.source,
            "sourceId": existing.source_id}  # fmt: skip
    return data if intent == "replace" else merged(existing.data, data)


def _compare(
    product: Mapping[str, Any], existing: KnownProduct | None, settings: MatchSettings
) -> tuple[str, list[Change]]:
    before = None if existing is None else existing.data
    if existing is not None:
        product = with_kept(product, existing.data, existing.kept)
    state, changes = diff(before, product, blanks_count=settings.intent == "replace")
    is_published_again = (
        existing is not None and not existing.published and settings.unpublishes_missing
        and PUBLISHED not in existing.kept
    )  # fmt: skip
    if is_published_again:
        # An earlier file lacked the product; this one has it again.
        return "changed", [*changes, Change("published", False, True)]
    return state, changes


def _hold(
    document: Document, match: Match, changes: Sequence[Change], settings: MatchSettings
) -> HeldReason | None:
    """What a person must confirm before the row is written; None: nothing."""
    existing, product = match.product, document["product"]
    if existing is None or document.get(ACCEPTED) or settings.intent in _WRITES_NEW_ONLY:
        return None
    if match.contradicts and "identifiers.gtin" not in existing.kept:
        before = existing.data.get("identifiers", {}).get("gtin", existing.gtin)
        after = product["identifiers"]["gtin"]
        message = (
            f"The supplier's id {existing.source_id!r} had the GTIN {before} and now has {after}: "
            "it may be another product"
        )
        details = {"field": "identifiers.gtin", "before": before, "after": after}
        return HeldReason(GTIN_HELD, message, _column(document, "identifiers.gtin"), details)
    if not any(change.field.startswith(("price.", "variants")) for change in changes):
        return None
    if existing.job_id == settings.job_id:
        # A person corrects what this job wrote: a cell was fixed, or the file remapped.
        return None
    after = written_over(existing, product, settings.intent)
    change = suspicious_change(existing.data, after, settings.price_guard)
    if change is None:
        return None
    column = _column(document, change.field) or _column(document, "price.amount")
    return HeldReason(PRICE_HELD, change.message(), column, change.as_json())


def _column(document: Document, field: str) -> str | None:
    """The supplier's column in the lineage of a value."""
    kept = document.get("lineage", {}).get(field)
    if isinstance(kept, Mapping):
        kept = [kept.get("column")]
    return kept[0] if isinstance(kept, Sequence) and kept else None
