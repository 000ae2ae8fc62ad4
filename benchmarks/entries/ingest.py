"""Rows into items, by the extraction's CSV ingest and by the fixed payload, against a raw COPY."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID

import orjson

from benchmarks.data import make_csv, read_rows
from benchmarks.entry import Entry, Line, Scale, share_of
from benchmarks.lab import Bench, Lab
from benchmarks.measure import timed
from benchmarks.payload import make_input
from penstock.model.ids import new_id
from penstock.store.jobs import jobs

_BATCH = 1000
_PIECE = 1024 * 1024
_COLUMNS = ("job_id", "row_no", "org_id", "user_id", "job_type", "key", "group_key", "input")


async def raw_copy(bench: Bench, inputs: Sequence[Any]) -> float:
    """Rows per second of COPY, 1,000 in a transaction, into the very table with its indexes."""
    who, job_id = bench.who, new_id()
    records = [
        (job_id, row_no, who.org_id, who.user_id, "payload", None, None, orjson.dumps(one).decode())
        for row_no, one in enumerate(inputs, start=1)
    ]
    await bench.lab.checkpoint()
    async with bench.db.acquire() as conn, timed() as clock:
        for start in range(0, len(records), _BATCH):
            await conn.copy_records_to_table(
                "job_items", schema_name=bench.db.schema, columns=_COLUMNS,
                records=records[start : start + _BATCH],
            )  # fmt: skip
    return len(records) / clock.seconds


async def ingest_job(bench: Bench, job_id: UUID, rows: int) -> float:
    # As a worker of an installation does when it has started.
    bench.runtime.prepare_children()
    await bench.runtime.children.call(int)
    await bench.lab.checkpoint()
    async with timed() as clock:
        await bench.ingest(job_id)
    return rows / clock.seconds


async def keep_file(bench: Bench, path: Path) -> UUID:
    """Upload it; answers its id."""

    async def chunks() -> AsyncIterator[bytes]:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece

    blob = await bench.runtime.blobs.put(chunks(), 10 * bench.runtime.settings.max_file_bytes)
    file_id = new_id()
    async with bench.db.transaction() as conn:
        await jobs.add_file(
            conn, file_id=file_id, org_id=bench.who.org_id, user_id=bench.who.user_id,
            name=path.name, media_type="text/csv", sha256=blob.sha256, size=blob.size,
            blob_key=blob.key,
        )  # fmt: skip
    return file_id


async def submit_file(
    bench: Bench, path: Path, config: Mapping[str, Any] = MappingProxyType({})
) -> UUID:
    return await bench.submit("extraction", config, file_id=await keep_file(bench, path))


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    rows = scale.of(100_000, 10_000)
    path = make_csv(lab.folder / "ingest.csv", rows)
    cells = read_rows(path)
    payload = [make_input(number) for number in range(rows)]
    found: dict[str, tuple[list[float], list[float]]] = {"CSV": ([], []), "payload": ([], [])}
    for _ in range(scale.repetitions):
        async with lab.bench() as bench:
            job_id = await submit_file(bench, path)
            found["CSV"][0].append(await ingest_job(bench, job_id, rows))
            found["CSV"][1].append(await raw_copy(bench, cells))
            job_id = await bench.submit("payload", {"items": rows})
            found["payload"][0].append(await ingest_job(bench, job_id, rows))
            found["payload"][1].append(await raw_copy(bench, payload))
    return [
        share_of(f"ingest: {name}", "rows/s", ours, baseline, 0.5)
        for name, (ours, baseline) in found.items()
    ]


ENTRY = Entry(
    "ingest", run, "Ingest", "Rows of a CSV file and of the fixed payload into items, with cursor,"
    " counters and progress. The baseline is COPY of the same rows into the same table with its"
    " indexes, 1,000 in a transaction.",
)  # fmt: skip
