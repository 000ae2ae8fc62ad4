"""How items are keyed and whether they are partitioned: the hot path, a page, and pruning a job."""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.decisions.hot_path import STEPS, Costs, Statements, run_once
from benchmarks.lab import Bench, open_lab
from benchmarks.measure import Figures, Table, percentile, show, timed
from penstock.model.ids import new_id
from penstock.store import queries

_ITEMS = queries.load("items")
_CHUNK = 5000


@dataclass(frozen=True)
class Shape:
    """A way to build the table, and the statements that go with it."""

    name: str
    key: str = "PRIMARY KEY (job_id, row_no)"
    job: str = "uuid"
    partitions: int = 0
    more: Sequence[str] = ()
    statements: Statements = field(default_factory=Statements)
    page: str = _ITEMS.items_by_row


def _for_bigint(text: str) -> str:
    """Statements whose first parameter is the job, for a job with a number."""
    return text.replace("$1::uuid[]", "$1::bigint[]")


def _for_surrogate(text: str) -> str:
    """Items are named by their id; the page still goes by row."""
    return re.sub(
        r"i\.job_id = [ot]\.job_id AND i\.row_no = ([ort])\.row_no", r"i.id = \1.row_no", text
    )


def _changed(change: Any) -> Statements:
    now = Statements()
    texts = {name: change(getattr(now, name)) for name in ("pick", "mark", "load", "settle")}
    return replace(now, **texts)


SHAPES = (
    Shape("(job uuid, row) (now)"),
    Shape(
        "surrogate bigint id", "id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "uuid", 0,
        ("CREATE UNIQUE INDEX items_row ON job_items (job_id, row_no)",), _changed(_for_surrogate),
    ),
    Shape("(job bigint, row)", job="bigint", statements=_changed(_for_bigint)),
    Shape("(job uuid, row), 8 partitions", partitions=8),
    Shape("(job uuid, row), 64 partitions", partitions=64),
)  # fmt: skip


async def build(conn: Any, schema: str, shape: Shape) -> None:
    """The table of the migration, rebuilt with another key."""
    columns = await conn.fetch(
        "SELECT attname, format_type(atttypid, atttypmod) AS type, attnotnull,"
        " pg_get_expr(d.adbin, d.adrelid) AS fallback FROM pg_attribute a"
        " LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum"
        " WHERE attrelid = 'template_items'::regclass AND attnum > 0 AND NOT attisdropped"
        " ORDER BY attnum"
    )
    lines = []
    for name, kind, required, fallback in columns:
        chosen = shape.job if name == "job_id" else kind
        lines.append(
            f"{name} {chosen}{' NOT NULL' if required else ''}"
            f"{f' DEFAULT {fallback}' if fallback else ''}"
        )
    indexes = await conn.fetch(
        "SELECT indexdef FROM pg_indexes WHERE schemaname = $1 AND tablename = 'template_items'"
        " AND indexname NOT LIKE '%pkey'", schema,
    )  # fmt: skip
    await conn.execute("DROP TABLE IF EXISTS job_items")
    options = "" if shape.partitions else " WITH (fillfactor = 80)"
    by = " PARTITION BY RANGE (job_id)" if shape.partitions else ""
    await conn.execute(f"CREATE TABLE job_items ({', '.join(lines)}, {shape.key}){by}{options}")
    for number in range(shape.partitions):
        low, high = bound(number, shape.partitions), bound(number + 1, shape.partitions)
        await conn.execute(
            f"CREATE TABLE job_items_{number} PARTITION OF job_items FOR VALUES FROM ({low})"
            f" TO ({high}) WITH (fillfactor = 80)"
        )
    for row in indexes:
        text = row["indexdef"].replace("template_items", "job_items")
        await conn.execute(re.sub(r"INDEX \w+ ON", "INDEX ON", text))
    for statement in shape.more:
        await conn.execute(statement)


def bound(number: int, count: int) -> str:
    """The space of random job ids in equal parts: where a job falls does not matter here."""
    if number == 0:
        return "MINVALUE"
    if number == count:
        return "MAXVALUE"
    return f"'{number * 256 // count:02x}000000-0000-0000-0000-000000000000'"


async def measure_shape(bench: Bench, shape: Shape, items: int) -> tuple[Costs, float]:
    conn = await bench.connect()
    try:
        await build(conn, bench.db.schema, shape)
        job = 7 if shape.job == "bigint" else new_id()
        costs = await run_once(bench, conn, items, shape.statements, job)
        await conn.execute("VACUUM ANALYZE job_items")
        pages = []
        for place in range(0, items, max(1, items // 200)):
            async with timed() as clock:
                await conn.fetch(shape.page, job, place, 100)
            pages.append(clock.seconds * 1000)
        return costs, percentile(pages, 0.5)
    finally:
        await conn.close()


async def measure_shapes(bench: Bench, items: int, repetitions: int) -> Table:
    found: dict[str, list[tuple[Costs, float]]] = {shape.name: [] for shape in SHAPES}
    for _ in range(repetitions):
        for shape in SHAPES:
            found[shape.name].append(await measure_shape(bench, shape, items))
    columns = (
        "key",
        *(f"{s} µs" for s in STEPS),
        "sum",
        "relative",
        "spread",
        "wall sum",
        "page ms",
    )
    table = Table("Server time per item, in slices of 500", columns)
    first = None
    for name, values in found.items():
        steps = [Figures([c.server[s] * 1e6 for c, _ in values]).median for s in STEPS]
        total = Figures([sum(c.server.values()) * 1e6 for c, _ in values])
        wall = Figures([sum(c.wall.values()) * 1e6 for c, _ in values])
        first = first or total.median
        page = Figures([page for _, page in values]).median
        relative = total.median / first
        table.add(name, *steps, total.median, relative, total.spread, wall.median, page)
    return table


async def fill(conn: Any, rows: int) -> Any:
    job = new_id()
    await conn.execute(
        "INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, status, input, result)"
        " SELECT $1, g, 1, 1, 'payload', 'DONE', jsonb_build_object('t', repeat('x', 380)),"
        " jsonb_build_object('t', repeat('y', 580)) FROM generate_series(1, $2::integer) AS g",
        job, rows,
    )  # fmt: skip
    return job


async def measure_pruning(bench: Bench, rows: int) -> Table:
    """A finished job goes: deleted in chunks and vacuumed, or dropped with its partition."""
    table = Table(f"Pruning a job of {rows:,} rows", ("how", "seconds", "WAL MB"))
    conn = await bench.connect()
    for shape in (SHAPES[0], SHAPES[3]):
        await build(conn, bench.db.schema, shape)
        job = await fill(conn, rows)
        await bench.lab.checkpoint()
        before = await conn.fetchval("SELECT pg_current_wal_lsn()")
        async with timed() as clock:
            if shape.partitions:
                place = await conn.fetchval(
                    "SELECT tableoid::regclass::text FROM job_items LIMIT 1"
                )
                await conn.execute(f"DROP TABLE {place}")
            else:
                for start in range(0, rows, _CHUNK):
                    await conn.execute(
                        "DELETE FROM job_items WHERE job_id = $1 AND row_no > $2 AND row_no <= $3",
                        job, start, start + _CHUNK,
                    )  # fmt: skip
                await conn.execute("VACUUM job_items")
        written = await conn.fetchval("SELECT pg_current_wal_lsn() - $1::pg_lsn", before)
        how = "DROP of its partition" if shape.partitions else f"DELETE by {_CHUNK:,} + VACUUM"
        table.add(how, clock.seconds, float(written) / 1e6)
    await conn.close()
    return table


async def main(items: int, rows: int, repetitions: int) -> None:
    async with open_lab() as lab, lab.bench() as bench:
        await bench.execute("ALTER TABLE job_items RENAME TO template_items")
        shapes = await measure_shapes(bench, items, repetitions)
        show([shapes, await measure_pruning(bench, rows)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=30_000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=5)
    asked = parser.parse_args()
    asyncio.run(main(asked.items, asked.rows, asked.repetitions))
