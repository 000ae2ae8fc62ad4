"""Counters per group of a job."""

from __future__ import annotations

from collections import Counter

from penstock.model.effects import (
    MAX_NAME_LENGTH,
    CountInGroup,
    EffectBatch,
    EffectWriter,
    LockOrder,
)
from penstock.store.database import Connection
from penstock.store.queries import load

_sql = load("group_counters")


class GroupCounters(EffectWriter):
    """Writes `CountInGroup`."""

    effect = CountInGroup
    order = LockOrder.ITEMS

    def check(self, effect: CountInGroup) -> CountInGroup:
        names = (effect.group, *effect.counts)
        if not all(0 < len(name) <= MAX_NAME_LENGTH for name in names):
            raise ValueError(f"groups and counters have names of 1 to {MAX_NAME_LENGTH} characters")
        if not all(isinstance(count, int) for count in effect.counts.values()):
            raise ValueError("counters are whole numbers")
        return effect

    async def write(self, conn: Connection, batch: EffectBatch) -> tuple[()]:
        total: Counter[tuple[str, str]] = Counter()
        for asked in batch.asked:
            for name, count in asked.effect.counts.items():
                total[asked.effect.group, name] += count
        # Sorted: settles that count in the same groups lock them in the same order.
        keys = sorted(total)
        await conn.execute(
            _sql.add_counts, batch.job_id, batch.org_id, [group for group, _ in keys],
            [name for _, name in keys], [total[key] for key in keys],
        )  # fmt: skip
        return ()
