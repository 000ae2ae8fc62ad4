"""The limit: the least a Python loop on PostgreSQL must do for each item, and nothing more.

Claim a batch, read the input, make the result, write it. No lease, fence, counters, events or
fairness. Run as a process: works until nothing is left.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import asyncpg
import orjson
import uvloop

from benchmarks.lab import Bench, running
from benchmarks.payload import make_input, make_result
from penstock.store.database import Connection

BATCH = 500
_TABLE = """
DROP TABLE IF EXISTS bare_items;
CREATE TABLE bare_items (
    id bigint PRIMARY KEY, status text NOT NULL DEFAULT 'PENDING', input jsonb NOT NULL,
    result jsonb
) WITH (fillfactor = 80);
CREATE INDEX bare_pending ON bare_items (id) WHERE status = 'PENDING';
"""
_CLAIM = """
WITH picked AS (
    SELECT id FROM bare_items WHERE status = 'PENDING' ORDER BY id LIMIT $1
    FOR UPDATE SKIP LOCKED
)
UPDATE bare_items i SET status = 'PROCESSING' FROM picked WHERE i.id = picked.id
RETURNING i.id, i.input
"""
_WRITE = """
UPDATE bare_items i SET status = 'DONE', result = o.result::jsonb
FROM unnest($1::bigint[], $2::text[]) AS o (id, result) WHERE i.id = o.id
"""


async def fill(bench: Bench, count: int) -> None:
    rows = [(number, orjson.dumps(make_input(number)).decode()) for number in range(count)]
    async with bench.db.acquire() as conn:
        await conn.execute(_TABLE)
        await conn.copy_records_to_table(
            "bare_items", schema_name=bench.db.schema, columns=("id", "input"), records=rows
        )
        await conn.execute("VACUUM ANALYZE bare_items")


async def loop(conn: Connection) -> None:
    while rows := await conn.fetch(_CLAIM, BATCH):
        ids = [row["id"] for row in rows]
        results = [orjson.dumps(make_result(orjson.loads(row["input"]))).decode() for row in rows]
        await conn.execute(_WRITE, ids, results)


@asynccontextmanager
async def bare_processes(bench: Bench, count: int) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Ready processes, and what lets them go and waits until they have done everything."""
    spec = json.dumps({"dsn": bench.lab.dsn, "schema": bench.db.schema})
    async with running("benchmarks.bare", spec, count) as processes:

        async def work() -> None:
            for process in processes:
                assert process.stdin is not None
                process.stdin.write(b"go\n")
            for process in processes:
                assert process.stdout is not None
                await process.stdout.readline()

        yield work


async def _work(dsn: str, schema: str) -> None:
    conn = await asyncpg.connect(dsn, server_settings={"search_path": schema, "jit": "off"})
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await loop(conn)
    print("done", flush=True)
    await conn.close()


def main() -> None:
    spec = json.loads(sys.argv[1])
    uvloop.run(_work(spec["dsn"], spec["schema"]))


if __name__ == "__main__":
    main()
