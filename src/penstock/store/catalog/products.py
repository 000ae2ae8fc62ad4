"""Products beyond the grid: rows that share a name, links between sources, and undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from penstock.model.products import LinkCandidate, ProductName
from penstock.store.catalog.product_links import decided_with
from penstock.store.database import Connection
from penstock.store.jobs.edits import StoredEdit
from penstock.store.jobs.result_cache import own_rows
from penstock.store.queries import load

_sql = load("products")
# More than are shown, since some of them may be decided, or be the row's own product.
_LINKS_OF_EACH = 16


async def rows_beside(
    conn: Connection, job_id: UUID, row_no: int, names: Sequence[str], most: int
) -> set[int]:
    """Rows that share a name with this row or with ``names``, at most ``most`` of each."""
    await own_rows(conn, job_id)
    own = [row["key"] for row in await conn.fetch(_sql.names_of_row, job_id, row_no)]
    keys = list(dict.fromkeys([*own, *names]))
    rows = await conn.fetch(_sql.rows_by_key, job_id, keys, most) if keys else []
    return {row["row_no"] for row in rows} - {row_no}


async def rows_beside_many(
    conn: Connection, job_id: UUID, rows: Sequence[int], names: Sequence[str], most: int
) -> set[int]:
    """Rows that share a name with one of these rows or with ``names``, and these rows."""
    own = [row["key"] for row in await conn.fetch(_sql.names_of_rows, job_id, list(rows))]
    keys = list(dict.fromkeys([*own, *names]))
    found = await conn.fetch(_sql.rows_by_key, job_id, keys, most) if keys else []
    return {row["row_no"] for row in found} | set(rows)


async def find_links(
    conn: Connection, org_id: int, source: str, gtins: Sequence[str], makers: Sequence[str]
) -> list[LinkCandidate]:
    """Products of other sources that share a GTIN, or brand and MPN; a few of each."""
    rows = await conn.fetch(
        _sql.find_links, org_id, source, list(set(gtins)), list(set(makers)), _LINKS_OF_EACH
    )
    names = [ProductName(row["source"], row["source_id"]) for row in rows]
    decided = await decided_with(conn, org_id, names)
    return [
        LinkCandidate(**row, decided=decided.get(name, frozenset()))
        for row, name in zip(rows, names, strict=True)
    ]


@dataclass(slots=True)
class Undone:
    """The result of an undo. ``refused`` products were changed again since."""

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
    """Restore the next products of a job that were not changed since. ``dry_run``: only report what
    would be restored."""
    if not dry_run:
        await conn.execute(_sql.lock_undo, str(job_id))
    changes = await conn.fetch(_sql.changes_to_undo, job_id, after, most)
    return await _take_back(conn, job_id, changes, dry_run=dry_run)


async def undo_of_edit(
    conn: Connection, job_id: UUID, edit: StoredEdit, after: UUID, most: int
) -> tuple[Undone, UUID | None]:
    """Restore products that the job first changed by rows of an edit, among the next ``most``
    products of the job. Products that were changed since stay. Answers the product to continue
    after; None at the end."""
    await conn.execute(_sql.lock_undo, str(job_id))
    walked = await conn.fetch(_sql.walk_changes, job_id, after, most, edit.created_at)
    new = [row["product_id"] for row in walked if row["is_new"]]
    changes = await conn.fetch(_sql.changes_of_edit, job_id, new, edit.id) if new else []
    undone = await _take_back(conn, job_id, changes)
    return undone, walked[-1]["product_id"] if len(walked) == most else None


async def _take_back(
    conn: Connection, job_id: UUID, changes: Sequence[Any], *, dry_run: bool = False
) -> Undone:
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


# For a product that another job changed between two runs of this one.
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
