"""Writes many new products at once, each with the note that its job created it."""

from __future__ import annotations

from penstock.model.effects import (
    MAX_NAME_LENGTH,
    CreateProducts,
    EffectBatch,
    EffectWriter,
    LockOrder,
)
from penstock.model.ids import new_id_bytes
from penstock.store.copy_format import (
    bool_field,
    bytes_field,
    copy_rows,
    float8_field,
    int4_field,
    int8_field,
    json_field,
    jsonb_field,
    text_field,
    texts_field,
    uuid_field,
)
from penstock.store.database import Connection

_PRODUCT = (
    "id", "org_id", "source", "source_id", "sku", "gtin", "data", "lineage", "job_id", "row_no",
    "published", "title_key", "price_key", "maker", "words", "row_digest",
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
        # In the order of their names, in which every writer locks products.
        new = sorted(
            ((asked.effect.source, one) for asked in batch.asked for one in asked.effect.products),
            key=lambda pair: (pair[0], pair[1].source_id),
        )
        ids = [bytes_field(one) for one in new_id_bytes(len(new))]
        job, org, first_version = uuid_field(batch.job_id), int8_field(batch.org_id), int4_field(1)
        # Rows of one batch mostly have one source.
        sources = {source: text_field(source) for source, _ in new}
        products = (
            b"".join((
                product_id, org, sources[source], text_field(one.source_id),
                text_field(one.sku), text_field(one.gtin), jsonb_field(one.data),
                json_field(one.lineage), job, int4_field(one.row_no), bool_field(one.published),
                text_field(one.keys.title), float8_field(one.keys.price),
                text_field(one.keys.maker), texts_field(one.keys.words), bytes_field(one.digest),
            ))
            for product_id, (source, one) in zip(ids, new, strict=True)
        )  # fmt: skip
        await copy_rows(conn, None, "products", _PRODUCT, products)
        changes = (
            b"".join((job, product_id, org, int4_field(one.row_no), first_version))
            for product_id, (_, one) in zip(ids, new, strict=True)
        )
        await copy_rows(conn, None, "product_changes", _CHANGE, changes)
        return ()
