"""The names that rows of a job go by, kept so that later stages find rows that mean the same."""

from __future__ import annotations

from penstock.model.effects import MAX_NAME_LENGTH, EffectBatch, EffectWriter, LockOrder, NameRow
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
