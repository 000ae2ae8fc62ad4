"""Writes products with before-images, if they still have the version that the stage saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from penstock.model.effects import (
    MAX_NAME_LENGTH,
    Asked,
    EffectBatch,
    EffectWriter,
    LockOrder,
    UpsertProduct,
)
from penstock.model.errors import ItemError
from penstock.model.ids import new_id
from penstock.model.text.json_text import JsonText
from penstock.store.database import Connection, to_json
from penstock.store.queries import load

_sql = load("products")


class Products(EffectWriter):
    """Writes `UpsertProduct`."""

    effect = UpsertProduct
    order = LockOrder.RECORDS
    late = ItemError("PRODUCT_CHANGED", "The product was changed while this row was worked on")

    def check(self, effect: UpsertProduct) -> UpsertProduct:
        if not 0 < len(effect.source_id) <= MAX_NAME_LENGTH:
            raise ValueError(f"a product's source id has 1 to {MAX_NAME_LENGTH} characters")
        if effect.data is None:
            return effect
        texts: Any = [JsonText(to_json(one)) for one in (effect.data, effect.lineage)]
        return replace(effect, data=texts[0], lineage=texts[1])

    async def write(self, conn: Connection, batch: EffectBatch) -> set[int]:
        return await write_products(conn, batch.org_id, batch.job_id, batch.asked)


async def write_products(
    conn: Connection, org_id: int, job_id: UUID, asked: Sequence[Asked]
) -> set[int]:
    """Write products that still have the version their stage saw; answers the rows of the others,
    which are not written."""
    by_name: dict[tuple[str, str], Asked] = {}
    late: set[int] = set()
    for one in asked:
        # The second row of one product in a settle has not seen the first one's change.
        name = (one.effect.source, one.effect.source_id)
        if by_name.setdefault(name, one) is not one:
            late.add(one.row_no)
    # New products are inserted unless they exist by then; only known ones are locked.
    new = [one for one in by_name.values() if one.effect.seen_version is None]
    seen = [name for name, one in by_name.items() if one.effect.seen_version is not None]
    known = {}
    if seen:
        sources, ids = zip(*seen, strict=True)
        locked = await conn.fetch(_sql.lock_products, org_id, list(sources), list(ids))
        known = {(row["source"], row["source_id"]): row for row in locked}
    changed: dict[UUID, Asked] = {}
    for name in seen:
        row, one = known.get(name), by_name[name]
        if row is None or row["version"] != one.effect.seen_version:
            late.add(one.row_no)
        else:
            changed[row["id"]] = one
    await _insert(conn, org_id, job_id, new, late)
    await _update(conn, job_id, changed)
    return late


_Value = TypeVar("_Value")


async def _insert(
    conn: Connection, org_id: int, job_id: UUID, new: Sequence[Asked], late: set[int]
) -> None:
    if not new:
        return
    ids = {new_id(): one for one in new}
    effects = [one.effect for one in ids.values()]
    rows = await conn.fetch(
        _sql.insert_products, org_id, job_id, list(ids), [e.source for e in effects],
        [e.source_id for e in effects], *_columns(effects), [one.row_no for one in ids.values()],
        _or_nothing([e.digest for e in effects]),
    )  # fmt: skip
    written = {row["id"] for row in rows}
    late |= {one.row_no for product, one in ids.items() if product not in written}


async def _update(conn: Connection, job_id: UUID, changed: Mapping[UUID, Asked]) -> None:
    if not changed:
        return
    ids, rows = list(changed), [one.row_no for one in changed.values()]
    effects = [one.effect for one in changed.values()]
    await conn.execute(_sql.keep_images, job_id, ids, rows)
    await conn.execute(
        _sql.update_products,
        job_id,
        ids,
        *_columns(effects),
        rows,
        [e.whole for e in effects],
        _or_nothing([e.digest for e in effects]),
    )


def _columns(effects: Sequence[UpsertProduct]) -> tuple[Sequence[Any], ...]:
    return (
        _or_nothing([e.sku for e in effects]),
        _or_nothing([e.gtin for e in effects]),
        [e.published for e in effects],
        _or_nothing([None if e.data is None else to_json(e.data) for e in effects]),
        _or_nothing([None if e.data is None else to_json(e.lineage) for e in effects]),
    )


def _or_nothing(column: Sequence[_Value | None]) -> Sequence[_Value | None]:
    """An empty array if all members are NULL: `unnest` pads it, and the driver encodes less."""
    return column if any(column) else ()
