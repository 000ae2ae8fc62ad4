"""The three writes of an item's life, straight on the table: what a change of the schema costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson

from benchmarks.decisions.statements import LOAD, MARK, PICK, SETTLE
from benchmarks.lab import Bench
from benchmarks.measure import timed
from benchmarks.payload import make_input, make_result
from penstock.model.ids import new_id
from penstock.store.database import Connection

BATCH = 1000
SLICE = 500
STEPS = ("ingest", "claim", "settle")


@dataclass(frozen=True)
class Statements:
    """As the engine has them, unless a variant of the table needs others."""

    columns: Sequence[str] = (
        "job_id", "row_no", "org_id", "user_id", "job_type", "key", "group_key", "input",
    )  # fmt: skip
    pick: str = PICK
    mark: str = MARK
    load: str = LOAD
    settle: str = SETTLE


@dataclass
class Costs:
    """Seconds of wall time and of the server's processor, by step."""

    wall: dict[str, float] = field(default_factory=dict)
    server: dict[str, float] = field(default_factory=dict)


async def run_once(
    bench: Bench, conn: Connection, items: int, statements: Statements | None = None,
    job_id: Any = None,
) -> Costs:  # fmt: skip
    """Rows in, claimed and settled in slices, each in its own transaction, on one connection."""
    chosen = statements or Statements()
    job = job_id or new_id()
    costs = Costs()
    steps: Mapping[str, Any] = {
        "ingest": lambda: ingest(bench, conn, job, items, chosen),
        "claim": lambda: claim(conn, job, items, chosen),
        "settle": lambda: settle(conn, job, items, chosen),
    }
    for name, step in steps.items():
        await bench.lab.checkpoint()
        before = bench.lab.server_cpu()
        async with timed() as clock:
            await step()
        costs.wall[name] = clock.seconds / items
        costs.server[name] = (bench.lab.server_cpu() - before) / items
    return costs


async def ingest(bench: Bench, conn: Connection, job: Any, items: int, chosen: Statements) -> None:
    who = bench.who
    for start in range(1, items + 1, BATCH):
        records = [
            (job, row_no, who.org_id, who.user_id, "payload", None, None,
             orjson.dumps(make_input(row_no)).decode())
            for row_no in range(start, min(start + BATCH, items + 1))
        ]  # fmt: skip
        await conn.copy_records_to_table(
            "job_items", schema_name=bench.db.schema, columns=chosen.columns, records=records
        )


def slice_of(row_no: int) -> UUID:
    return UUID(int=row_no // SLICE + 1)


async def claim(conn: Connection, job: Any, items: int, chosen: Statements) -> None:
    for start in range(1, items + 1, SLICE):
        async with conn.transaction():
            picked = await conn.fetch(chosen.pick, [job], [0], [start], [SLICE])
            rows = [row["row_no"] for row in picked]
            held = [job] * len(rows), rows, [slice_of(start)] * len(rows)
            await conn.execute(chosen.mark, *held)
        await conn.fetch(chosen.load, *held)


async def settle(conn: Connection, job: Any, items: int, chosen: Statements) -> None:
    for start in range(1, items + 1, SLICE):
        rows = list(range(start, min(start + SLICE, items + 1)))
        results = [orjson.dumps(make_result(make_input(row))).decode() for row in rows]
        count = len(rows)
        done = await conn.execute(
            chosen.settle, [job] * count, rows, [slice_of(start)] * count, [1] * count,
            ["DONE"] * count, [0] * count, [1] * count, [-1.0] * count, [None] * count, results,
            [None] * count,
        )  # fmt: skip
        if done != f"UPDATE {count}":
            raise RuntimeError(f"settled {done}, not {count}")
