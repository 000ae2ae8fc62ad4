"""What a campaign's history and logs tell in figures."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
from tests.chaos.chaos_bench import ChaosBench
from tests.chaos.worker_pool import WorkerPool, WorkerProcess

# From the last sign of life of a lease (claim, heartbeat, settled piece) to when it was taken back,
# and until another worker had the first of its items. By the database's clock.
_LOST_LEASES = """
    WITH crash AS (
        SELECT from_slice AS id, min(n) AS n, min(job_id::text)::uuid AS job_id FROM history_items
        WHERE from_status = 'PROCESSING' AND crashes > from_crashes GROUP BY from_slice
    ), life AS (
        SELECT s.id, max(s.at) FILTER (WHERE s.op <> 'DELETE') AS last_sign,
               max(s.at) FILTER (WHERE s.op = 'DELETE') AS taken_back, max(s.worker) AS worker
        FROM history_slices s WHERE s.id IN (SELECT id FROM crash) GROUP BY s.id
    )
    SELECT l.worker, extract(epoch FROM l.taken_back - l.last_sign)::float8 AS taken_back,
           extract(epoch FROM again.at - l.last_sign)::float8 AS claimed_again
    FROM crash c JOIN life l ON l.id = c.id
    CROSS JOIN LATERAL (
        SELECT min(next.at) AS at FROM history_items lost CROSS JOIN LATERAL (
            SELECT h.at, h.to_status FROM history_items h
            WHERE h.job_id = lost.job_id AND h.row_no = lost.row_no AND h.n > lost.n
              AND h.to_status <> 'PENDING' ORDER BY h.n LIMIT 1) AS next
        WHERE next.to_status = 'PROCESSING' AND lost.job_id = c.job_id AND lost.from_slice = c.id
          AND lost.crashes > lost.from_crashes
    ) AS again
    -- What ended on that crash, or was cancelled, is not claimed again.
    WHERE again.at IS NOT NULL
"""
_TURNS = """
    SELECT count(*) FILTER (WHERE to_status IN ('DONE', 'ERROR', 'NOT_FOUND', 'SKIPPED')) AS ended,
           count(*) FILTER (WHERE from_status = 'PROCESSING'
               AND (to_status <> 'PENDING' OR to_stage > from_stage OR attempts > from_attempts))
               AS settled,
           count(*) FILTER (WHERE crashes > from_crashes) AS repeated
    FROM history_items WHERE from_status IS NOT NULL
"""
# What a worker says when it comes too late to write.
REFUSED = ("lease was lost, nothing written", "ingest lease was lost")
_EVENT = re.compile(r'"event": "([^"]+)"')


@dataclass(frozen=True)
class Spread:
    count: int
    p50: float
    p99: float
    max: float

    @staticmethod
    def of(values: Iterable[float]) -> Spread:
        ordered = sorted(values)
        if not ordered:
            return Spread(0, 0.0, 0.0, 0.0)

        def at(share: float) -> float:
            return round(ordered[max(0, math.ceil(share * len(ordered)) - 1)], 2)

        return Spread(len(ordered), at(0.5), at(0.99), round(ordered[-1], 2))

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


async def recovery(
    chaos_bench: ChaosBench, workers: Sequence[str] | None = None
) -> Mapping[str, Spread]:
    """Of the leases these workers lost; None: all that were lost."""
    async with chaos_bench.runtime.db.acquire() as conn:
        await conn.execute("SET statement_timeout = 0")
        rows = await conn.fetch(_LOST_LEASES)
        await conn.execute("RESET statement_timeout")
    rows = [row for row in rows if workers is None or row["worker"] in workers]
    return {name: Spread.of(row[name] for row in rows) for name in ("taken_back", "claimed_again")}


async def turns(chaos_bench: ChaosBench) -> Mapping[str, int]:
    async with chaos_bench.runtime.db.acquire() as conn:
        await conn.execute("SET statement_timeout = 0")
        row = await conn.fetchrow(_TURNS)
        await conn.execute("RESET statement_timeout")
    assert row is not None
    return dict(row)


def said(worker_pool: WorkerPool) -> Counter[str]:
    """How often workers said what."""
    found: Counter[str] = Counter()
    for hand in worker_pool.processes:
        found.update(_EVENT.findall(hand.log.read_text(errors="replace")))
    return found


@dataclass(frozen=True)
class Footprint:
    """What a worker and the installation take while nothing is to do."""

    memory_mb: float
    files: int
    threads: int
    connections: int
    half_made_blobs: int
    leases: int

    def grew(self, before: Footprint) -> list[str]:
        """What is not back where it was, or less: memory within a tenth, the rest but for what
        comes and goes: a leader's connection, one opened this moment, helpers of the loop."""
        wrong = []
        if self.memory_mb > before.memory_mb * 1.10:
            wrong.append(f"memory went from {before.memory_mb} to {self.memory_mb} MB")
        slack = {"files": 0, "threads": 4, "connections": 2, "half_made_blobs": 0, "leases": 0}
        for name, more in slack.items():
            now, then = getattr(self, name), getattr(before, name)
            if now > then + more:
                wrong.append(f"{name} went from {then} to {now}")
        return wrong


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


async def footprint(chaos_bench: ChaosBench, hand: WorkerProcess, blobs: Path) -> Footprint:
    process = psutil.Process(hand.process.pid)
    links = [_target(path) for path in Path(f"/proc/{process.pid}/fd").iterdir()]
    sockets = sum(target.startswith("socket:") for target in links)
    half_made = sum(1 for _ in (blobs / "tmp").glob("*"))
    return Footprint(
        round(process.memory_info().rss / 1e6, 1), len(links) - sockets, process.num_threads(),
        sockets, half_made, await chaos_bench.value("SELECT count(*) FROM slices"),
    )  # fmt: skip
