"""The catalog: products under the fence, before-images, and what stages may read of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from uuid import UUID

import asyncpg

from penstock.model.effects import NameRow, UpsertProduct
from penstock.model.ids import new_id
from penstock.model.ports import Missing, Tally, Winner
from penstock.model.products import FoundProducts, KnownProduct, LinkCandidate
from penstock.store.catalog import missing, profiles
from penstock.store.database import Connection, Database, from_json, to_json
from penstock.store.queries import load

_sql = load("products")
_AT_ONCE = 500
_TALLIED_AT_ONCE = 20_000
# More products that share a name than are shown: one of them may be the row's own.
_LINKS_OF_EACH = 8
_SAMPLED = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """A product that a row wants written."""

    row_no: int
    effect: UpsertProduct

    @property
    def name(self) -> tuple[str, str]:
        return (self.effect.source, self.effect.source_id)


async def write_products(
    conn: Connection, org_id: int, job_id: UUID, asked: Sequence[Asked]
) -> set[int]:
    """Write what is still as the stage saw it, with before-images; answers the rows whose product
    is not, of which nothing was written."""
    by_name: dict[tuple[str, str], Asked] = {}
    late: set[int] = set()
    for one in asked:
        # The second row of one name in a settle has not seen what the first one writes.
        if by_name.setdefault(one.name, one) is not one:
            late.add(one.row_no)
    # One that was not there is added, unless it is there by then: only known ones are looked at.
    new = [one for one in by_name.values() if one.effect.seen_version is None]
    seen = [name for name, one in by_name.items() if one.effect.seen_version is not None]
    known = {}
    if seen:
        sources, ids = zip(*seen, strict=True)
        locked = await conn.fetch(_sql.lock_products, org_id, list(sources), list(ids))
        known = {(row["source"], row["source_id"]): row for row in locked}
    changed: list[tuple[Any, Asked]] = []
    for name in seen:
        row, one = known.get(name), by_name[name]
        if row is None or row["version"] != one.effect.seen_version:
            late.add(one.row_no)
        else:
            changed.append((row, one))
    images = await _insert(conn, org_id, job_id, new, late)
    images += await _update(conn, job_id, changed)
    if images:
        products, rows, before, versions = zip(*images, strict=True)
        await conn.execute(
            _sql.keep_images, job_id, org_id, products, rows, _or_nothing(before), versions
        )
    return late


_Image = tuple[UUID, int, str | None, int]


async def _insert(
    conn: Connection, org_id: int, job_id: UUID, new: Sequence[Asked], late: set[int]
) -> list[_Image]:
    if not new:
        return []
    ids = {new_id(): one for one in new}
    effects = [one.effect for one in ids.values()]
    rows = await conn.fetch(
        _sql.insert_products, org_id, job_id, list(ids), [e.source for e in effects],
        [e.source_id for e in effects], *_columns(effects), [one.row_no for one in ids.values()],
    )  # fmt: skip
    written = {row["id"] for row in rows}
    late |= {one.row_no for product, one in ids.items() if product not in written}
    return [(product, ids[product].row_no, None, 1) for product in written]


async def _update(
    conn: Connection, job_id: UUID, changed: Sequence[tuple[Any, Asked]]
) -> list[_Image]:
    if not changed:
        return []
    written = await conn.fetch(
        _sql.update_products, job_id, [row["id"] for row, _ in changed],
        *_columns([one.effect for _, one in changed]), [one.row_no for _, one in changed],
        [one.effect.whole for _, one in changed],
    )  # fmt: skip
    versions = {row["id"]: row["version"] for row in written}
    return [(row["id"], one.row_no, row["image"], versions[row["id"]]) for row, one in changed]


def _columns(effects: Sequence[UpsertProduct]) -> tuple[Sequence[Any], ...]:
    return (
        _or_nothing([e.sku for e in effects]),
        _or_nothing([e.gtin for e in effects]),
        [e.published for e in effects],
        _or_nothing([None if e.data is None else to_json(e.data) for e in effects]),
        _or_nothing([None if e.data is None else to_json(e.lineage) for e in effects]),
    )


def _or_nothing(column: Sequence[str | None]) -> Sequence[str | None]:
    """`unnest` fills up what is shorter with NULLs, and the driver looks at every member."""
    return column if any(column) else ()


async def write_names(
    conn: Connection, org_id: int, job_id: UUID, names: Mapping[int, NameRow], said_before: bool
) -> None:
    """What rows call themselves, instead of what they may have ``said_before``."""
    if said_before:
        await conn.execute(_sql.forget_row_keys, job_id, list(names))
    rows = [(row, key, name.filled) for row, name in names.items() for key in name.keys]
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        await conn.execute(_sql.add_row_keys, job_id, org_id, *columns)


async def rows_beside(
    conn: Connection, job_id: UUID, row_no: int, names: Sequence[str], most: int
) -> set[int]:
    """Rows that share a name with this one, or would if it had ``names``; so many of each."""
    own = [row["key"] for row in await conn.fetch(_sql.names_of_row, job_id, row_no)]
    keys = list(dict.fromkeys([*own, *names]))
    rows = await conn.fetch(_sql.rows_by_key, job_id, keys, most) if keys else []
    return {row["row_no"] for row in rows} - {row_no}


async def find_links(
    conn: Connection, org_id: int, source: str, gtins: Sequence[str], makers: Sequence[str]
) -> list[LinkCandidate]:
    """Products of other sources that share a GTIN, or brand and MPN; a few of each."""
    rows = await conn.fetch(
        _sql.find_links, org_id, source, list(set(gtins)), list(set(makers)), _LINKS_OF_EACH
    )
    return [LinkCandidate(**row) for row in rows]


class StoredCatalog:
    """Implements `model.ports.Catalog`: reads only, in short statements of their own."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def find(
        self, org_id: int, source: str, source_ids: Sequence[str], skus: Sequence[str],
        gtins: Sequence[str],
    ) -> FoundProducts:  # fmt: skip
        found: dict[UUID, KnownProduct] = {}
        catalog_key = None
        longest = max(len(source_ids), len(skus), len(gtins))
        for start in range(0, longest, _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            async with self._db.acquire() as conn:
                rows = await conn.fetch(
                    _sql.find_products, org_id, source, list(source_ids[part]), list(skus[part]),
                    list(gtins[part]),
                )  # fmt: skip
            for row in rows:
                values = {**dict(row), "data": from_json(row["data"])}
                catalog_key = values.pop("catalog_key")
                found[row["id"]] = KnownProduct(**values)
        return FoundProducts(list(found.values()), catalog_key)

    async def link_candidates(
        self, org_id: int, source: str, gtins: Sequence[str], makers: Sequence[str]
    ) -> Sequence[LinkCandidate]:
        if not gtins and not makers:
            return ()
        async with self._db.acquire() as conn:
            return await find_links(conn, org_id, source, gtins, makers)

    async def files_of_source(self, org_id: int, source: str) -> Sequence[str]:
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.files_of_source, org_id, source, _SAMPLED)
        return [row["name"] for row in rows]

    async def rows_named(
        self, job_id: UUID, keys: Sequence[str], most: int
    ) -> Mapping[str, Sequence[int]]:
        named: dict[str, list[int]] = {}
        async with self._db.acquire() as conn:
            rows = await conn.fetch(_sql.rows_by_key, job_id, list(keys), most)
        for row in rows:
            named.setdefault(row["key"], []).append(row["row_no"])
        return named

    async def row_to_keep(
        self, job_id: UUID, keys: Sequence[str], winner: Winner
    ) -> Mapping[str, int]:
        statement = {
            "first": _sql.first_of_key, "last": _sql.last_of_key,
            "most_complete": _sql.fullest_of_key,
        }[winner]  # fmt: skip
        async with self._db.acquire() as conn:
            rows = await conn.fetch(statement, job_id, list(keys))
        return {row["key"]: row["row_no"] for row in rows}

    async def rows_alike(
        self, job_id: UUID, column: int, most: int, share: float
    ) -> Sequence[int] | None:
        try:
            async with self._db.acquire() as conn:
                total = int(await conn.fetchval(_sql.last_row, job_id) or 0)
                bound = min(most, int(total * share))
                rows = await conn.fetch(_sql.rows_alike, job_id, column, bound + 1)
        except asyncpg.QueryCanceledError:
            # It only saves time, and here it would not.
            return None
        if len(rows) > bound or any(row["unsure"] for row in rows):
            return None
        return [row["row_no"] for row in rows]

    async def tally(self, job_id: UUID) -> Tally:
        """In ranges, so that no statement takes long over a large job."""
        states: Counter[str] = Counter()
        linked = 0
        problems: dict[tuple[str, str], dict[str, Any]] = {}
        async with self._db.acquire() as conn:
            total = int(await conn.fetchval(_sql.last_row, job_id) or 0)
        for start in range(0, total, _TALLIED_AT_ONCE):
            async with self._db.acquire() as conn:
                end = start + _TALLIED_AT_ONCE
                for row in await conn.fetch(_sql.tally_states, job_id, start, end):
                    states[row["state"]] += row["rows"]
                    linked += row["linked"]
                for row in await conn.fetch(_sql.tally_problems, job_id, start, end):
                    place = (row["place"] or "", row["code"])
                    example = {"rowNo": row["first_row"], "value": row["value"]}
                    known = problems.setdefault(
                        place,
                        {"code": row["code"], "severity": row["severity"], "count": 0,
                         "message": row["message"], "example": example},
                    )  # fmt: skip
                    known["count"] += row["rows"]
        by_column: dict[str, list[dict[str, Any]]] = {}
        for (column, _), one in problems.items():
            by_column.setdefault(column, []).append(one)
        for found in by_column.values():
            found.sort(key=lambda one: -one["count"])
        return Tally(dict(states), by_column, linked)

    async def missing(self, job_id: UUID, most: int) -> Missing:
        async with self._db.acquire() as conn:
            count, unpublished = await missing.counts(conn, job_id)
            first = await missing.some(conn, job_id, "", most)
        return Missing(count, unpublished, [dict(row) for row in first])

    async def unnamed_rows(self, job_id: UUID) -> int:
        async with self._db.acquire() as conn:
            total = int(await conn.fetchval(_sql.last_row, job_id) or 0)
            return await missing.unnamed_rows(conn, job_id, total)

    async def documents(self, job_id: UUID, rows: Sequence[int]) -> Mapping[int, Mapping[str, Any]]:
        async with self._db.acquire() as conn:
            found = await conn.fetch(_sql.row_documents, job_id, list(rows))
        return {row["row_no"]: from_json(row["normalized"]) for row in found}

    async def profile(
        self, org_id: int, name: str | None, fingerprint: str | None
    ) -> Mapping[str, Any] | None:
        async with self._db.acquire() as conn:
            if name is not None:
                return await profiles.get(conn, org_id, name)
            return None if fingerprint is None else await profiles.find(conn, org_id, fingerprint)

    async def rates(self, base: str, day: date) -> Sequence[profiles.Rate]:
        async with self._db.acquire() as conn:
            return await profiles.rates_before(conn, base, day)


@dataclass(slots=True)
class Undone:
    """What an undo did. ``refused`` products were changed by someone else since."""

    restored: int = 0
    deleted: int = 0
    refused: list[dict[str, Any]] = field(default_factory=list)
    last: UUID | None = None

    @property
    def looked_at(self) -> int:
        return self.restored + self.deleted + len(self.refused)


async def undo_some(
    conn: Connection, job_id: UUID, after: UUID, most: int, *, dry_run: bool = False
) -> Undone:
    """Put back the next products of a job that nobody has changed since. ``dry_run``: only say what
    would be put back."""
    if not dry_run:
        await conn.execute(_sql.lock_undo, str(job_id))
    changes = await conn.fetch(_sql.changes_to_undo, job_id, after, most)
    ids = [change["product_id"] for change in changes]
    found = await conn.fetch(_sql.look_at_changed if dry_run else _sql.lock_changed, ids)
    now = {row["id"]: row for row in found}
    undone = Undone(last=ids[-1] if ids else None)
    images: list[str] = []
    made: list[UUID] = []
    taken: list[Any] = []
    for change in changes:
        product = now.get(change["product_id"])
        if product is None or product["version"] != change["version"]:
            undone.refused.append(_refusal(change, product))
            continue
        taken.append(product)
        if change["has_earlier"]:
            undone.refused.append(_refusal(change, product) | {"reason": _EARLIER})
        if change["before"] is None:
            made.append(change["product_id"])
        else:
            images.append(change["before"])
    undone.restored, undone.deleted = len(images), len(made)
    if taken and not dry_run:
        await conn.execute(_sql.restore_products, images)
        await conn.execute(_sql.delete_products, made)
        undone_ids, taken_back = [row["id"] for row in taken], [row["image"] for row in taken]
        await conn.execute(_sql.mark_undone, job_id, undone_ids, taken_back)
    return undone


# Of a product that is now as another job left it, between two runs of this one.
_EARLIER = (
    "Its last change was taken back. An earlier run of this job changed it, too, and another job "
    "since: undo that one, then this one again."
)


def _refusal(change: Any, product: Any) -> dict[str, Any]:
    shown = {"productId": str(change["product_id"]), "rowNo": change["row_no"]}
    if product is None:
        return {**shown, "reason": "It was deleted since."}
    return {
        **shown,
        "source": product["source"],
        "sourceId": product["source_id"],
        "reason": "It was changed since.",
    }
