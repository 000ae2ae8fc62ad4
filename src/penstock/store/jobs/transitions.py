"""Changes of jobs in a transaction: stages, counters, completion, events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from penstock.model.progress import describe
from penstock.model.states import ItemStatus
from penstock.store.database import Connection, Json, to_json
from penstock.store.queries import load

_sql = load("settle")
_COUNTERS = ("total", "pending", "processing", "done", "error", "not_found", "skipped")
# Names of the counters in the API.
_SHOWN = {name: "notFound" if name == "not_found" else name for name in _COUNTERS}
COUNTER_OF = {
    ItemStatus.PENDING: "pending",
    ItemStatus.PROCESSING: "processing",
    ItemStatus.DONE: "done",
    ItemStatus.ERROR: "error",
    ItemStatus.NOT_FOUND: "not_found",
    ItemStatus.SKIPPED: "skipped",
}


@dataclass(slots=True)
class StageMove:
    """Change of one stage's counters. ``delay_ms``: until the first item is due, None if none
    is."""

    pending: int = 0
    open: int = 0
    delay_ms: float | None = None
    item_ms: float | None = None

    def enter(self, count: int, delay_ms: float | None) -> None:
        """Items enter the stage; ``delay_ms=None`` does not make it ready."""
        self.pending += count
        self.open += count
        self.wait(delay_ms)

    def wait(self, delay_ms: float | None) -> None:
        if delay_ms is not None:
            self.delay_ms = delay_ms if self.delay_ms is None else min(self.delay_ms, delay_ms)


@dataclass(slots=True)
class JobMove:
    """Change of one job's counters and stages, with its events."""

    counters: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTERS, 0))
    stages: dict[int, StageMove] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    events: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)

    def stage(self, position: int) -> StageMove:
        return self.stages.setdefault(position, StageMove())

    def count(self, counter: str, change: int) -> None:
        self.counters[counter] += change

    def emit(self, event: str, data: Mapping[str, Any]) -> None:
        self.events.append((event, data))

    def failed(self, code: str) -> None:
        self.errors[code] = self.errors.get(code, 0) + 1


@dataclass(frozen=True, slots=True)
class NewChild:
    """A child item, ready to be written."""

    # None: added from outside, as deliveries of a standing job are.
    parent_row: int | None
    key: str
    stage: int
    group: str | None
    input: Json


@dataclass(frozen=True, slots=True)
class Written:
    """Jobs whose summary can be made, and lanes with newly claimable work."""

    to_finish: tuple[UUID, ...] = ()
    lanes: frozenset[str] = frozenset()


async def write_moves(
    conn: Connection,
    moves: Mapping[UUID, JobMove],
    worker: str | None,
    children: Mapping[UUID, Sequence[NewChild]] | None = None,
) -> Written:
    """Apply the changes. Locks the jobs in order, so items must be written before."""
    ids = sorted(moves)
    grouped = False
    if children:
        await conn.fetch(_sql.lock_jobs, ids)
        for job_id in sorted(children):
            grouped |= await _add_children(conn, job_id, moves[job_id], children[job_id])
    locked = await _write_stages(conn, ids, moves)
    barriers = [row["id"] for row in locked if row["has_barrier"]]
    if barriers:
        await conn.execute(_sql.move_barriers, barriers)
    rows = await conn.fetch(
        _sql.move_jobs, ids,
        *([moves[i].counters[name] for i in ids] for name in _COUNTERS),
        [len(moves[i].events) for i in ids], grouped,
    )  # fmt: skip
    await _write_errors(conn, rows, moves)
    faulty = [row["id"] for row in rows if row["ends"] and row["error"]]
    if faulty:
        await conn.execute(_sql.name_errors, faulty)
    events: list[tuple[int, UUID, int, str, str]] = []
    for row in rows:
        told = list(moves[row["id"]].events)
        if row["tells_progress"]:
            told.append(("job.progress", _progress(row)))
        if row["ends"]:
            told.append(("job.completed", final_counts(row)))
        first = row["seq"] - len(told) + 1
        events += [
            (row["org_id"], row["id"], first + n, event, to_json(data))
            for n, (event, data) in enumerate(told)
        ]
    summarised = [row["id"] for row in rows if row["complete"] and row["needs_finish"]]
    if summarised:
        await conn.execute(_sql.ready_finish, summarised)
        for row in await conn.fetch(_sql.ready_jobs, summarised):
            if row["paused"]:
                events.append((row["org_id"], row["id"], row["seq"], "job.resumed", "{}"))
    await write_events(conn, events, worker)
    return Written(tuple(summarised), frozenset(row["lane"] for row in rows))


async def _add_children(
    conn: Connection, job_id: UUID, move: JobMove, children: Sequence[NewChild]
) -> bool:
    """Insert the children the job does not have yet; answers whether any has a group."""
    added = await conn.fetch(
        _sql.add_children, job_id, list(range(len(children))), [c.key for c in children],
        [c.parent_row for c in children], [c.stage for c in children],
        [c.group for c in children], [to_json(c.input) for c in children],
    )  # fmt: skip
    for row in added:
        move.stage(row["stage"]).enter(1, 0)
    move.count("total", len(added))
    move.count("pending", len(added))
    return any(row["grouped"] for row in added)


async def end_jobs(
    conn: Connection, ids: Iterable[UUID], summary: str | None = None
) -> list[tuple[int, UUID, int, str, str]]:
    """End the jobs as done; answers the events to write."""
    rows = await conn.fetch(_sql.end_jobs, list(ids), summary)
    return [
        (row["org_id"], row["id"], row["seq"], "job.completed", to_json(final_counts(row)))
        for row in rows
    ]


def final_counts(row: Any) -> dict[str, Any]:
    counts = {
        "total": row["total"],
        "done": row["done"],
        "error": row["error"],
        "notFound": row["not_found"],
        "skipped": row["skipped"],
    }
    if "elapsed_ms" in row.keys():  # noqa: SIM118 - a Record is not a Mapping
        counts["elapsedMs"] = row["elapsed_ms"] or 0
    return counts


async def write_events(
    conn: Connection, events: list[tuple[int, UUID, int, str, str]], worker: str | None
) -> None:
    if events:
        await conn.execute(
            _sql.add_events, *(list(column) for column in zip(*events, strict=True)), worker
        )


async def _write_stages(
    conn: Connection, ids: list[UUID], moves: Mapping[UUID, JobMove]
) -> list[Any]:
    """Lock the jobs and move their stages; answers the jobs."""
    rows = [
        (job_id, position, m.pending, m.open, m.delay_ms, m.item_ms)
        for job_id in ids
        for position, m in moves[job_id].stages.items()
    ]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 6
    return await conn.fetch(_sql.move_stages, ids, *columns)


async def _write_errors(
    conn: Connection, rows: Iterable[Any], moves: Mapping[UUID, JobMove]
) -> None:
    errors = [
        (row["id"], row["org_id"], code, count)
        for row in rows
        for code, count in sorted(moves[row["id"]].errors.items())
    ]
    if errors:
        await conn.execute(
            _sql.count_errors, *(list(column) for column in zip(*errors, strict=True))
        )


def _progress(row: Any) -> dict[str, Any]:
    finished = row["done"] + row["error"] + row["not_found"] + row["skipped"]
    return describe(
        percent=row["percent"], stage=row["stage"], rows_done=finished, rows_total=row["total"],
        elapsed_ms=row["elapsed_ms"] or 0, state="running", kept=row["kept_rows"],
    ) | {"counters": {to: row[name] for name, to in _SHOWN.items()}}  # fmt: skip
