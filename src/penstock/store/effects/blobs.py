"""References to blobs that stages stored."""

from __future__ import annotations

from penstock.model.effects import MAX_NAME_LENGTH, EffectBatch, EffectWriter, KeepBlob, LockOrder
from penstock.store import blob_refs
from penstock.store.database import Connection


class BlobReferences(EffectWriter):
    """Writes `KeepBlob`."""

    effect = KeepBlob
    order = LockOrder.RECORDS

    def check(self, effect: KeepBlob) -> KeepBlob:
        if not all(0 < len(name) <= MAX_NAME_LENGTH for name in (effect.kind, effect.owner)):
            raise ValueError(f"kind and owner of a blob have 1 to {MAX_NAME_LENGTH} characters")
        return effect

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        references = [
            (one.effect.blob_key, one.effect.kind, one.effect.owner) for one in batch.asked
        ]
        await blob_refs.add(conn, batch.org_id, references)
        return ()
