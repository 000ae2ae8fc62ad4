"""Edit a product by hand, and undo an edit. Both are audited.

An edit is a change of the product like one of a job, with an id of its own, so that undo restores
the product exactly if nothing has changed it since. Else undo sets the edited fields back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from penstock.model.errors import NotThere, PermanentError
from penstock.model.ids import new_id
from penstock.model.products import PUBLISHED, FieldChange, value_at, with_value
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.catalog import product_edits as store
from penstock.store.catalog.product_edits import EditedProduct, ProductToEdit
from penstock.store.catalog.products import undo_some
from penstock.store.database import Connection

_FIRST = UUID(int=0)
# The rule of values that a person set, in the lineage of a product.
_RULE = "edited"
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Editor:
    """What editing needs to know of products: ``edit`` sets the given texts and answers what
    changed, ``gtin_of`` is the GTIN with 14 digits."""

    edit: Callable[
        [Mapping[str, Any], Mapping[str, str | None]], tuple[Document, list[FieldChange]]
    ]
    gtin_of: Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True, slots=True)
class Edited:
    """``edit_id`` is None if nothing changed."""

    edit_id: UUID | None
    version: int
    changes: Sequence[FieldChange]


def no_such_product() -> NotThere:
    return NotThere("NOT_FOUND", "There is no such product.")


async def edit_product(
    conn: Connection, caller: Caller, editor: Editor, product_id: UUID,
    given: Mapping[str, str | None], seen_version: int | None,
) -> Edited:  # fmt: skip
    """Set fields of a product. From then on imports leave these fields as they are."""
    product = await _lock_product(conn, product_id)
    if seen_version is not None and seen_version != product.version:
        raise PermanentError(
            "INVALID_STATE", "The product was changed since you opened it. Load it again.",
            version=product.version,
        )  # fmt: skip
    current = {**product.data, PUBLISHED: product.published}
    data, changes = editor.edit(current, given)
    if not changes:
        return Edited(None, product.version, ())
    fields = [one.field for one in changes]
    kept = sorted(product.kept | set(fields))
    edit_id, version = await _write(conn, caller, editor, product, data, changes, kept)
    await audit(
        conn, product.org_id, caller.who.user_id, "product.edit", f"product:{product_id}",
        ip=caller.ip, before={one.field: one.before for one in changes},
        after={one.field: one.after for one in changes},
    )  # fmt: skip
    return Edited(edit_id, version, changes)


async def undo_edit(
    conn: Connection, caller: Caller, editor: Editor, product_id: UUID, edit_id: UUID
) -> Edited:
    """Undo an edit; imports change its fields again. To undo it twice is an error."""
    product = await _lock_product(conn, product_id)
    edit = await store.get_edit(conn, product_id, edit_id)
    if edit is None:
        raise NotThere("NOT_FOUND", "There is no such edit of the product.")
    if edit.undone_at is not None:
        raise PermanentError("INVALID_STATE", "The edit is undone already.")
    await store.mark_undone(conn, edit_id)
    restored = await undo_some(conn, edit_id, _FIRST, 1)
    if restored.restored:
        after = await _lock_product(conn, product_id)
        done = Edited(None, after.version, [FieldChange(**one) for one in edit.changes])
    else:
        done = await _set_back(conn, caller, editor, product, edit)
    await audit(
        conn, product.org_id, caller.who.user_id, "product.undo_edit", f"product:{product_id}",
        ip=caller.ip, after={"edit": str(edit_id), "version": done.version},
    )  # fmt: skip
    return done


async def _set_back(
    conn: Connection,
    caller: Caller,
    editor: Editor,
    product: ProductToEdit,
    edit: store.ProductEdit,
) -> Edited:
    """The product has changed since: only fields that still have the edited value are set back."""
    others = await store.kept_by_others(conn, product.id, edit.id)
    data: Document = {**product.data, PUBLISHED: product.published}
    changes = []
    for one in edit.changes:
        field = one["field"]
        if field not in others and value_at(data, field) == one["after"]:
            with_value(data, field, one["before"])
            changes.append(FieldChange(field, one["after"], one["before"]))
    released = {one["field"] for one in edit.changes} - others
    kept = sorted(product.kept - released)
    edit_id, version = await _write(conn, caller, editor, product, data, changes, kept, edit.id)
    return Edited(edit_id, version, changes)


async def _write(
    conn: Connection, caller: Caller, editor: Editor, product: ProductToEdit, data: Document,
    changes: Sequence[FieldChange], kept: Collection[str], undoes: UUID | None = None,
) -> tuple[UUID, int]:  # fmt: skip
    edit_id = new_id()
    published = data.pop(PUBLISHED) is not False
    if any(one.field == PUBLISHED for one in changes):
        data[PUBLISHED] = published
    elif PUBLISHED in product.data:
        data[PUBLISHED] = product.data[PUBLISHED]
    origin = {"rule": _RULE, "confidence": 1.0}
    lineage = {} if undoes else {one.field: origin for one in changes if one.after is not None}
    after = EditedProduct(
        editor.gtin_of(data), published, data, list(kept), [one.field for one in changes],
        lineage,
    )  # fmt: skip
    shown = [one._asdict() for one in changes]
    version = await store.write_edit(
        conn, edit_id, caller.who.user_id, product, after, shown, undoes
    )
    return edit_id, version


async def _lock_product(conn: Connection, product_id: UUID) -> ProductToEdit:
    product = await store.lock_product(conn, product_id)
    if product is None:
        raise no_such_product()
    return product
