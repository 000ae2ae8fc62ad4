"""What each index of job_items costs and gives, the fillfactor, and jsonb against json."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.decisions.hot_path import STEPS, Costs, Statements, run_once
from benchmarks.decisions.statements import PICK
from benchmarks.lab import Bench, open_lab
from benchmarks.measure import Figures, Table, percentile, show, timed
from penstock.model.ids import new_id
from penstock.store import queries

INDEXES = (
    "items_fresh", "items_due", "items_grouped", "items_live", "items_problem", "items_key",
)  # fmt: skip
_CLAIMS = queries.load("claims")
_JSON_COLUMNS = ("input", "normalized", "result", "error")
# One of many statuses can use the partial index only when the statement names them itself.
_PROBLEMS = """
SELECT i.* FROM unnest($3::text[]) AS wanted (status) CROSS JOIN LATERAL (
    SELECT * FROM job_items i
    WHERE i.job_id = $1 AND i.row_no > $2 AND i.status = wanted.status
      AND i.status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
    ORDER BY i.row_no LIMIT $4
) AS i ORDER BY i.row_no LIMIT $4
"""
_KNOWN = "SELECT 1 FROM job_items WHERE job_id = $1 AND key = $2"
_LIVE = """
SELECT i.* FROM job_items i
WHERE i.job_id = $1 AND i.status IN ('PENDING', 'PROCESSING')
ORDER BY i.updated_at, i.row_no LIMIT $2
"""


def _as_json(statements: Statements) -> Statements:
    return Statements(settle=statements.settle.replace("::jsonb", "::json"))


VARIANTS: Mapping[str, tuple[Sequence[str], Statements]] = {
    "as it is": ((), Statements()),
    **{f"without {name}": ((f"DROP INDEX {name}",), Statements()) for name in INDEXES},
    "without any but the key": (tuple(f"DROP INDEX {name}" for name in INDEXES), Statements()),
    "fillfactor 60": (("ALTER TABLE job_items SET (fillfactor = 60)",), Statements()),
    "fillfactor 100": (("ALTER TABLE job_items SET (fillfactor = 100)",), Statements()),
    "json instead of jsonb": (
        tuple(f"ALTER TABLE job_items ALTER {name} TYPE json" for name in _JSON_COLUMNS),
        _as_json(Statements()),
    ),
}


@asynccontextmanager
async def changed(bench: Bench, changes: Sequence[str]) -> AsyncIterator[Any]:
    """The table with the changes, put back afterwards; empty before and after."""
    conn = await bench.connect()
    kept = [
        row["indexdef"]
        for row in await conn.fetch(
            "SELECT indexdef FROM pg_indexes WHERE schemaname = $1 AND indexname = ANY ($2)",
            bench.db.schema, list(INDEXES),
        )
    ]  # fmt: skip
    await conn.execute("TRUNCATE job_items")
    for change in changes:
        await conn.execute(change)
    try:
        yield conn
    finally:
        await conn.execute("TRUNCATE job_items")
        for name in INDEXES:
            await conn.execute(f"DROP INDEX IF EXISTS {name}")
        await conn.execute("ALTER TABLE job_items SET (fillfactor = 80)")
        for name in _JSON_COLUMNS:
            await conn.execute(f"ALTER TABLE job_items ALTER {name} TYPE jsonb")
        for definition in kept:
            await conn.execute(definition)
        await conn.close()


async def measure_cost(bench: Bench, items: int, repetitions: int) -> list[Table]:
    costs: dict[str, list[Costs]] = {name: [] for name in VARIANTS}
    sizes: dict[str, int] = {}
    for _ in range(repetitions):
        for name, (changes, statements) in VARIANTS.items():
            async with changed(bench, changes) as conn:
                costs[name].append(await run_once(bench, conn, items, statements))
                sizes[name] = await conn.fetchval("SELECT pg_total_relation_size('job_items')")
    tables = []
    for kind in ("server", "wall"):
        columns = (
            "variant",
            *(f"{s} µs, {kind}" for s in STEPS),
            "sum",
            "relative",
            "spread",
            "MB",
        )
        table = Table(f"Cost per item ({kind} time)", columns)
        first = None
        for name, found in costs.items():
            steps = [Figures([getattr(c, kind)[s] * 1e6 for c in found]).median for s in STEPS]
            total = Figures([sum(getattr(c, kind).values()) * 1e6 for c in found])
            first = first or total.median
            relative = total.median / first
            table.add(name, *steps, total.median, relative, total.spread, sizes[name] / 1e6)
        tables.append(table)
    return tables


async def fill(conn: Any, who: Any, rows: int) -> Any:
    """One job: 40 % done (one in 500 an error), the rest pending, 2 % of it retries."""
    job = new_id()
    await conn.execute(
        "INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, status, due_at,"
        " updated_at, key, input)"
        " SELECT $1, g, $2, $3, 'payload', CASE WHEN g > $4 * 0.4 THEN 'PENDING'"
        " WHEN g % 500 = 0 THEN 'ERROR' ELSE 'DONE' END, CASE WHEN g > $4 * 0.4 AND g % 50 = 0"
        " THEN now() + (g % 1000 - 500) * interval '1 second' END, now() - g * interval '1 ms',"
        " CASE WHEN g % 10 = 0 THEN 'k' || g END, jsonb_build_object('text', repeat('x', 380))"
        " FROM generate_series(1, $4::integer) AS g",
        job, who.org_id, who.user_id, rows,
    )  # fmt: skip
    await conn.execute("VACUUM ANALYZE job_items")
    return job


async def measure_benefit(bench: Bench, rows: int, repetitions: int) -> Table:
    """Time of the query an index is for, with it and without it."""
    asks: Mapping[str, tuple[str, str, Sequence[Any]]] = {
        "items_fresh": ("claim: fresh rows", PICK, [[0], [rows * 4 // 10], [500]]),
        "items_due": ("claim: due rows", PICK, [[0], [rows * 4 // 10], [500]]),
        "items_live": ("Pending tab", _LIVE, [100]),
        "items_problem": ("errors page", _PROBLEMS, [0, ["ERROR", "NOT_FOUND"], 100]),
        "items_key": ("child known?", _KNOWN, ["k50"]),
        "items_grouped": ("claim: groups", _CLAIMS.pick_groups, [0, "payload", "work", 32, 500]),
    }  # fmt: skip
    table = Table(f"Benefit at {rows:,} rows", ("index", "query", "with ms", "without ms", "MB"))
    conn = await bench.connect()
    job = await fill(conn, bench.who, rows)
    for name, (label, statement, rest) in asks.items():
        first = [job] if statement is PICK else job
        size = await conn.fetchval("SELECT pg_relation_size($1::text::regclass)", name) / 1e6
        times = []
        for drop in (False, True):
            transaction = conn.transaction()
            await transaction.start()
            if drop:
                await conn.execute(f"DROP INDEX {name}")
            found = []
            for _ in range(repetitions):
                async with timed() as clock:
                    await conn.fetch(statement, first, *rest)
                found.append(clock.seconds * 1000)
            times.append(percentile(found, 0.5))
            await transaction.rollback()
        table.add(name, label, *times, size)
    await conn.close()
    return table


async def main(items: int, rows: int, repetitions: int) -> None:
    async with open_lab() as lab, lab.bench() as bench:
        tables = await measure_cost(bench, items, repetitions)
        show([*tables, await measure_benefit(bench, rows, repetitions)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=30_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=3)
    asked = parser.parse_args()
    asyncio.run(main(asked.items, asked.rows, asked.repetitions))
