"""Writes many new products at once, each with the note that its job created it."""

from __future__ import annotations

from penstock.model.effects import (
    MAX_NAME_LENGTH,
    CreateProducts,
    EffectBatch,
    EffectWriter,
    LockOrder,
)
from penstock.model.ids import new_ids
from penstock.store.copy_format import (
    copy_rows,
    int4_field,
    int8_field,
    json_field,
    jsonb_field,
    text_field,
    uuid_field,
)
from penstock.store.database import Connection

_PRODUCT = (
    "id", "org_id", "source", "source_id", "sku", "gtin", "data", "lineage", "job_id", "row_no",
)  # fmt: skip
_CHANGE = ("job_id", "product_id", "org_id", "row_no", "version")


class NewProducts(EffectWriter):
    """Writes `CreateProducts`. A product that exists by now is a unique violation."""

    effect = CreateProducts
    order = LockOrder.RECORDS

    def check(self, effect: CreateProducts) -> CreateProducts:
        if any(not 0 < len(one.source_id) <= MAX_NAME_LENGTH for one in effect.products):
            raise ValueError(f"a product's source id has 1 to {MAX_NAME_LENGTH} characters")
        return effect

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        job, org, first_version = uuid_field(batch.job_id), int8_field(batch.org_id), int4_field(1)
        products, changes = [], []
        for asked in batch.asked:
            source = text_field(asked.effect.source)
            # In the order of their names, in which every writer locks products.
            ordered = sorted(asked.effect.products, key=lambda product: product.source_id)
            for one, new in zip(ordered, new_ids(len(ordered)), strict=True):
                product_id, row_no = uuid_field(new), int4_field(one.row_no)
                products.append(b"".join((
                    product_id, org, source, text_field(one.source_id), text_field(one.sku),
                    text_field(one.gtin), jsonb_field(one.data), json_field(one.lineage), job,
                    row_no,
                )))  # fmt: skip
                changes.append(b"".join((job, product_id, org, row_no, first_version)))
        await copy_rows(conn, None, "products", _PRODUCT, products)
        await copy_rows(conn, None, "product_changes", _CHANGE, changes)
        return ()
