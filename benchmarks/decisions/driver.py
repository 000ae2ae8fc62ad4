"""asyncpg or psycopg 3, and how parameters travel: settle, claim and COPY on the real schema."""

from __future__ import annotations

import argparse
import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import asyncpg
import orjson
import psycopg
from psycopg.adapt import Buffer, Loader
from psycopg.pq import Format
from psycopg.types.json import Jsonb

from benchmarks.decisions.statements import LOAD, MARK, PICK, SETTLE
from benchmarks.lab import Bench, open_lab
from benchmarks.measure import Table, alternate, compare, show, timed
from benchmarks.payload import make_input, make_result
from penstock.model.ids import new_id

_COLUMNS = ("job_id", "row_no", "org_id", "user_id", "job_type", "key", "group_key", "input")
# The same transition without casts from text: the document is parsed once, as a whole.
_SETTLE_DOCUMENT = """
UPDATE job_items i SET
    status = o.status, stage = o.stage, attempts = o.attempts, slice_id = NULL,
    due_at = CASE WHEN o.delay_ms >= 0 THEN now() + o.delay_ms * interval '1 millisecond' END,
    crashes = 0, solo_crashes = 0, normalized = coalesce(o.normalized, i.normalized),
    result = coalesce(o.result, i.result), error = o.error, updated_at = now()
FROM {source} WHERE i.job_id = o.job_id AND i.row_no = o.row_no AND i.slice_id = o.slice_id
  AND i.generation = o.generation AND i.status = 'PROCESSING'
"""
_FIELDS = (
    "(job_id uuid, row_no integer, slice_id uuid, generation integer, status text, stage smallint, "
    "attempts smallint, delay_ms double precision, normalized {json}, result {json}, error {json})"
)
_RECORDSET = _SETTLE_DOCUMENT.format(
    source=f"jsonb_to_recordset($1::jsonb) AS o {_FIELDS.format(json='jsonb')}"
)
_JSON_RECORDSET = _SETTLE_DOCUMENT.format(
    source=f"json_to_recordset($1::json) AS o {_FIELDS.format(json='jsonb')}"
)
_TEMPORARY = _SETTLE_DOCUMENT.format(source="settling AS o")
# What all items of a slice share travels once; arrays only for what differs.
_SHARED = """
UPDATE job_items i SET
    status = $4, stage = $5, attempts = $6, slice_id = NULL, due_at = NULL,
    crashes = 0, solo_crashes = 0, normalized = coalesce(o.normalized::jsonb, i.normalized),
    result = coalesce(o.result::jsonb, i.result), error = NULL, updated_at = now()
FROM unnest($7::integer[], $8::text[], $9::text[]) AS o (row_no, normalized, result)
WHERE i.job_id = $1 AND i.row_no = o.row_no AND i.slice_id = $2
  AND i.generation = $3 AND i.status = 'PROCESSING'
"""


class _RawJsonb(Loader):
    """The bytes as they came: the engine parses them itself, with orjson."""

    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return bytes(data)[1:]


@dataclass
class Connections:
    asyncpg: asyncpg.Connection[asyncpg.Record]
    psycopg: psycopg.AsyncConnection[tuple[Any, ...]]

    async def close(self) -> None:
        await self.asyncpg.close()
        await self.psycopg.close()


async def connect(bench: Bench) -> Connections:
    ours = await bench.connect()
    theirs = await psycopg.AsyncConnection.connect(
        bench.lab.dsn, autocommit=True, options=f"-c search_path={bench.db.schema} -c jit=off"
    )
    theirs.prepare_threshold = 0
    theirs.adapters.register_loader("jsonb", _RawJsonb)
    temporary = f"CREATE TEMP TABLE settling {_FIELDS.format(json='jsonb')} ON COMMIT DELETE ROWS"
    await ours.execute(temporary)
    return Connections(ours, theirs)


def binary(statement: str) -> bytes:
    """The statement as psycopg takes it, every parameter in binary."""
    return re.sub(r"\$(\d+)", r"%(p\1)b", statement).encode()


def named(values: Sequence[Any]) -> dict[str, Any]:
    return {f"p{number}": value for number, value in enumerate(values, start=1)}


class Rows:
    """Items of one job, marked for a slice: each measurement takes the next ones."""

    def __init__(self, bench: Bench, job_id: UUID) -> None:
        self.bench, self.job_id = bench, job_id
        self.slice_id = new_id()
        self._next = 1

    async def mark(self) -> None:
        await self.bench.execute(
            "UPDATE job_items SET status = 'PROCESSING', slice_id = $1", self.slice_id
        )
        await self.bench.execute("VACUUM ANALYZE job_items")

    def take(self, count: int) -> list[tuple[Any, ...]]:
        """As `engine.settle` makes them, results still as objects."""
        first, self._next = self._next, self._next + count
        return [
            (self.job_id, row_no, self.slice_id, 1, "DONE", 0, 1, -1.0, None,
             make_result(make_input(row_no)), None)
            for row_no in range(first, first + count)
        ]  # fmt: skip


def _columns(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    texts = [(*row[:9], orjson.dumps(row[9]).decode(), row[10]) for row in rows]
    return [list(column) for column in zip(*texts, strict=True)]


def _document(rows: list[tuple[Any, ...]]) -> str:
    names = (
        "job_id", "row_no", "slice_id", "generation", "status", "stage", "attempts", "delay_ms",
        "normalized", "result", "error",
    )  # fmt: skip
    return orjson.dumps([dict(zip(names, row, strict=True)) for row in rows]).decode()


Write = Callable[[Connections, list[tuple[Any, ...]]], Awaitable[None]]


async def settle_asyncpg(on: Connections, rows: list[tuple[Any, ...]]) -> None:
    await on.asyncpg.execute(SETTLE, *_columns(rows))


async def settle_psycopg(on: Connections, rows: list[tuple[Any, ...]]) -> None:
    await on.psycopg.execute(binary(SETTLE), named(_columns(rows)))


async def settle_psycopg_text(on: Connections, rows: list[tuple[Any, ...]]) -> None:
    statement = binary(SETTLE).replace(b")b", b")t")
    await on.psycopg.execute(statement, named(_columns(rows)))


async def settle_shared(on: Connections, rows: list[tuple[Any, ...]]) -> None:
    head = rows[0]
    await on.asyncpg.execute(
        _SHARED, head[0], head[2], head[3], head[4], head[5], head[6], [row[1] for row in rows],
        [None] * len(rows), [orjson.dumps(row[9]).decode() for row in rows],
    )  # fmt: skip


async def settle_recordset(on: Connections, rows: list[tuple[Any, ...]]) -> None:
    await on.asyncpg.execute(_RECORDSET, _document(rows))


async def settle_json_recordset(on: Connections, rows: list[tuple[Any, ...]]) -> None:
    await on.asyncpg.execute(_JSON_RECORDSET, _document(rows))


async def settle_psycopg_recordset(on: Connections, rows: list[tuple[Any, ...]]) -> None:
    await on.psycopg.execute(binary(_RECORDSET), named([_document(rows)]))


async def settle_temporary(on: Connections, rows: list[tuple[Any, ...]]) -> None:
    records = [(*row[:9], orjson.dumps(row[9]).decode(), row[10]) for row in rows]
    async with on.asyncpg.transaction():
        await on.asyncpg.copy_records_to_table("settling", records=records)
        await on.asyncpg.execute(_TEMPORARY)


SETTLES: dict[str, Write] = {
    "asyncpg, 11 arrays (now)": settle_asyncpg,
    "asyncpg, shared values as scalars, 3 arrays": settle_shared,
    "asyncpg, jsonb_to_recordset": settle_recordset,
    "asyncpg, json_to_recordset": settle_json_recordset,
    "asyncpg, COPY to a temporary table": settle_temporary,
    "psycopg, 11 arrays, binary": settle_psycopg,
    "psycopg, 11 arrays, text": settle_psycopg_text,
    "psycopg, jsonb_to_recordset": settle_psycopg_recordset,
}


async def measure_settle(bench: Bench, sizes: Sequence[int], repetitions: int) -> Table:
    table = Table("Settle items", ("items", "how", "µs per item", "relative", "spread"))
    for size in sizes:
        job_id = await bench.items(size * len(SETTLES) * (repetitions + 1))
        rows = Rows(bench, job_id)
        await rows.mark()
        on = await connect(bench)

        def variant(write: Write, rows: Rows = rows, on: Connections = on, size: int = size) -> Any:
            async def run() -> float:
                taken = rows.take(size)
                async with timed() as clock:
                    await write(on, taken)
                return clock.seconds / size

            return run

        variants = {name: variant(write) for name, write in SETTLES.items()}
        await alternate(variants, 1)
        compare(table, await alternate(variants, repetitions), (size,), 1e6)
        await on.close()
        await bench.execute("TRUNCATE job_items")
    return table


async def claim_asyncpg(on: Connections, job_id: UUID, size: int) -> None:
    conn, slice_id = on.asyncpg, new_id()
    picked = await conn.fetch(PICK, [job_id], [0], [0], [size])
    held = [job_id] * size, [row["row_no"] for row in picked], [slice_id] * size
    await conn.execute(MARK, *held)
    for row in await conn.fetch(LOAD, *held):
        orjson.loads(row["input"])


async def claim_psycopg(on: Connections, job_id: UUID, size: int) -> None:
    conn, slice_id = on.psycopg, new_id()
    cursor = await conn.execute(binary(PICK), named([[job_id], [0], [0], [size]]), binary=True)
    picked = await cursor.fetchall()
    held = named([[job_id] * size, [row[1] for row in picked], [slice_id] * size])
    await conn.execute(binary(MARK), held)
    loaded = await conn.execute(binary(LOAD), held, binary=True)
    for row in await loaded.fetchall():
        orjson.loads(row[3])


CLAIMS = {"asyncpg (now)": claim_asyncpg, "psycopg, binary": claim_psycopg}


async def measure_claim(bench: Bench, sizes: Sequence[int], repetitions: int) -> Table:
    table = Table("Claim: pick, mark, load", ("items", "how", "µs per item", "relative", "spread"))
    for size in sizes:
        job_id = await bench.items(size * len(CLAIMS) * (repetitions + 1))
        on = await connect(bench)

        def variant(
            claim: Any, on: Connections = on, job_id: UUID = job_id, size: int = size
        ) -> Any:
            async def run() -> float:
                async with timed() as clock:
                    await claim(on, job_id, size)
                return clock.seconds / size

            return run

        variants = {name: variant(claim) for name, claim in CLAIMS.items()}
        await alternate(variants, 1)
        compare(table, await alternate(variants, repetitions), (size,), 1e6)
        await on.close()
        await bench.execute("TRUNCATE job_items")
    return table


def _records(bench: Bench, job_id: UUID, count: int) -> list[tuple[Any, ...]]:
    who = bench.who
    return [
        (job_id, row_no, who.org_id, who.user_id, "payload", None, None,
         orjson.dumps(make_input(row_no)).decode())
        for row_no in range(1, count + 1)
    ]  # fmt: skip


def _copy_text(records: Sequence[tuple[Any, ...]]) -> bytes:
    lines = []
    for job_id, row_no, org_id, user_id, kind, _, _, text in records:
        escaped = text.replace("\\", "\\\\")
        lines.append(f"{job_id}\t{row_no}\t{org_id}\t{user_id}\t{kind}\t\\N\t\\N\t{escaped}\n")
    return "".join(lines).encode()


async def copy_asyncpg(bench: Bench, on: Connections, records: list[tuple[Any, ...]]) -> None:
    await on.asyncpg.copy_records_to_table(
        "job_items", schema_name=bench.db.schema, columns=_COLUMNS, records=records
    )


async def _source(text: bytes) -> Any:
    yield text


async def copy_asyncpg_text(bench: Bench, on: Connections, records: list[tuple[Any, ...]]) -> None:
    await on.asyncpg.copy_to_table(
        "job_items", schema_name=bench.db.schema, columns=_COLUMNS, format="text",
        source=_source(_copy_text(records)),
    )  # fmt: skip


async def copy_psycopg(bench: Bench, on: Connections, records: list[tuple[Any, ...]]) -> None:
    into = f"COPY job_items ({', '.join(_COLUMNS)}) FROM STDIN (FORMAT binary)".encode()
    async with on.psycopg.cursor() as cursor, cursor.copy(into) as copy:
        copy.set_types(["uuid", "int4", "int8", "int8", "text", "text", "text", "jsonb"])
        for record in records:
            await copy.write_row((*record[:7], Jsonb(record[7], dumps=str)))


async def copy_psycopg_text(bench: Bench, on: Connections, records: list[tuple[Any, ...]]) -> None:
    into = f"COPY job_items ({', '.join(_COLUMNS)}) FROM STDIN".encode()
    async with on.psycopg.cursor() as cursor, cursor.copy(into) as copy:
        await copy.write(_copy_text(records))


COPIES = {
    "asyncpg, records (now)": copy_asyncpg,
    "asyncpg, text made by us": copy_asyncpg_text,
    "psycopg, rows in binary": copy_psycopg,
    "psycopg, text made by us": copy_psycopg_text,
}


async def measure_copy(bench: Bench, sizes: Sequence[int], repetitions: int) -> Table:
    table = Table("COPY of an ingest batch", ("rows", "how", "µs per row", "relative", "spread"))
    on = await connect(bench)
    for size in sizes:

        def variant(copy: Any, size: int = size) -> Any:
            async def run() -> float:
                records = _records(bench, new_id(), size)
                async with timed() as clock:
                    await copy(bench, on, records)
                return clock.seconds / size

            return run

        variants = {name: variant(copy) for name, copy in COPIES.items()}
        await alternate(variants, 1)
        compare(table, await alternate(variants, repetitions), (size,), 1e6)
    await on.close()
    return table


async def main(repetitions: int) -> None:
    async with open_lab() as lab, lab.bench() as bench:
        show([
            await measure_settle(bench, (500, 2000), repetitions),
            await measure_claim(bench, (500, 2000), repetitions),
            await measure_copy(bench, (1000, 5000), repetitions),
        ])  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=7)
    asyncio.run(main(parser.parse_args().repetitions))
