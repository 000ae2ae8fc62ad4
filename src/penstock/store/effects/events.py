"""Events of a job that a stage asks for."""

from __future__ import annotations

from penstock.model.effects import EffectBatch, EffectWriter, Emit, LockOrder
from penstock.store.database import Connection, to_json


class Events(EffectWriter):
    """Writes `Emit`, with the number of the row that asked for it."""

    effect = Emit
    order = LockOrder.ITEMS

    def check(self, effect: Emit) -> Emit:
        to_json(dict(effect.data))
        return effect

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        for one in batch.asked:
            batch.emit(one.effect.event, {"rowNo": one.row_no, **one.effect.data})
        return ()
