"""The names that rows of a job go by, kept so that later stages find rows that mean the same."""

from __future__ import annotations

from penstock.model.effects import (
    MAX_NAME_LENGTH,
    EffectBatch,
    EffectWriter,
    LockOrder,
    NameRow,
    NameRows,
)
from penstock.store.copy_format import (
    copy_rows,
    int2_field,
    int4_field,
    int8_field,
    text_field,
    uuid_field,
)
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("products")


class RowNames(EffectWriter):
    """Writes `NameRow`: the last one of a row counts."""

    effect = NameRow
    order = LockOrder.ITEMS

    def check(self, effect: NameRow) -> NameRow:
        if any(len(key) > MAX_NAME_LENGTH for key in effect.keys):
            raise ValueError(f"a row's name has at most {MAX_NAME_LENGTH} characters")
        return effect

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        names = {one.row_no: one.effect for one in batch.asked}
        if not batch.is_first_run:
            await conn.execute(_sql.forget_row_keys, batch.job_id, list(names))
        rows = [(row, key, name.filled) for row, name in names.items() for key in name.keys]
        if rows:
            columns = [list(column) for column in zip(*rows, strict=True)]
            await conn.execute(_sql.add_row_keys, batch.job_id, batch.org_id, *columns)
        return ()


class ManyRowNames(EffectWriter):
    """Writes `NameRows`."""

    effect = NameRows
    order = LockOrder.ITEMS
    _COLUMNS = ("job_id", "row_no", "key", "org_id", "filled")

    def check(self, effect: NameRows) -> NameRows:
        if any(len(key) > MAX_NAME_LENGTH for key in effect.keys):
            raise ValueError(f"a row's name has at most {MAX_NAME_LENGTH} characters")
        return effect

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        job, org = uuid_field(batch.job_id), int8_field(batch.org_id)
        rows = [
            b"".join((job, int4_field(row), text_field(key), org, int2_field(filled)))
            for one in batch.asked
            for row, key, filled in zip(
                one.effect.rows, one.effect.keys, one.effect.filled, strict=True
            )
        ]
        if rows:
            await copy_rows(conn, None, "job_keys", self._COLUMNS, rows)
        return ()
