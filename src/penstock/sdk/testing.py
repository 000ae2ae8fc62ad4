"""Run a pipeline in a test, in one process and without a database.

```python
run = await run_pipeline(WordCount(), files={"poem.txt": b"a rose is a rose"})
assert run.results == [{"line": "a rose is a rose", "words": 5}]
```

Rows, `after_ingest`, stages, children and the summary run as a worker would run them, one item
after the other. Nothing is retried: an item that a stage wants to retry ends with that outcome.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import structlog

from penstock.blobs.local import LocalBlobs
from penstock.guards.call_limits import CallLimiter
from penstock.guards.children import ChildPool
from penstock.guards.fetch import Fetcher
from penstock.model.effects import Effect
from penstock.model.network.fetching import FetchPurpose
from penstock.model.network.token_bucket import Rate
from penstock.model.outcomes import AddedCells, Advance, Outcome
from penstock.model.pipeline import FileRef, Item, Job, Pipeline, Row, Stage
from penstock.model.ports import Blobs, Call, Calls, Children, Fetchers, Log, P

_MAX_FILE_BYTES = 1 << 30
_CHILD_MEMORY_BYTES = 1 << 30
_CHILD_CPU_SECONDS = 60


@dataclass
class TestContext:
    """Implements `penstock.sdk.Context`. ``ports`` are what `Context.port` gives, by their kind."""

    __test__ = False

    blobs: Blobs
    children: Children
    ports: Mapping[type, Any] = field(default_factory=dict)
    log: Log = field(default_factory=structlog.get_logger)
    batch_rows: int = 64
    item_timeout_ms: int = 30_000
    limits: Mapping[str, int] = field(default_factory=dict)
    call_limits: Calls = field(default_factory=CallLimiter)
    fetchers: Fetchers = field(
        default_factory=lambda: {purpose: Fetcher() for purpose in FetchPurpose}
    )

    def port(self, kind: type[P]) -> P:
        try:
            found: P = self.ports[kind]
        except KeyError:
            raise LookupError(f"Give run_pipeline(ports={{{kind.__name__}: …}})") from None
        return found

    def time_is_up(self) -> bool:
        return False

    def calls(
        self,
        provider: str,
        domain: str = "",
        *,
        company: str | None = None,
        cost: float = 0.0,
        rate: Rate | None = None,
        patience_ms: float | None = None,
    ) -> AbstractAsyncContextManager[Call]:
        return self.call_limits.call(
            provider, domain, until=float("inf"), time_is_up=self.time_is_up
        )


@dataclass
class TestItem:
    """What became of one item: its last outcome, what it shows, and all effects it asked for."""

    __test__ = False

    row_no: int
    input: Any
    outcome: Outcome | None = None
    result: dict[str, Any] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)


@dataclass
class TestRun:
    """What became of a job."""

    __test__ = False

    items: list[TestItem]
    context: Mapping[str, Any]
    summary: Mapping[str, Any]
    job_effects: Sequence[Effect]

    @property
    def results(self) -> list[dict[str, Any]]:
        return [item.result for item in self.items]


async def run_pipeline(
    pipeline: Pipeline,
    config: Mapping[str, Any] | None = None,
    *,
    files: Mapping[str, bytes] | None = None,
    ports: Mapping[type, Any] | None = None,
) -> TestRun:
    """A job of this config and these files, from its rows to its summary."""
    with tempfile.TemporaryDirectory() as folder:
        async with _context(Path(folder), ports or {}) as ctx:
            chosen = pipeline.Config.model_validate(dict(config or {}))
            stored = [await _stored(ctx, *file) for file in (files or {}).items()]
            first = stored[0] if stored else None
            job = Job(uuid4(), 1, pipeline.name, chosen, first, more_files=stored[1:])
            return await _run(pipeline, job, ctx)


@asynccontextmanager
async def _context(folder: Path, ports: Mapping[type, Any]) -> AsyncIterator[TestContext]:
    children = ChildPool(_CHILD_MEMORY_BYTES, cpu_seconds=_CHILD_CPU_SECONDS)
    ctx = TestContext(LocalBlobs(folder), children, ports)
    try:
        yield ctx
    finally:
        await children.close()
        for fetcher in ctx.fetchers.values():
            if isinstance(fetcher, Fetcher):
                await fetcher.close()


async def _stored(ctx: TestContext, name: str, content: bytes) -> FileRef:
    async def chunks() -> AsyncIterator[bytes]:
        yield content

    blob = await ctx.blobs.put(chunks(), _MAX_FILE_BYTES)
    return FileRef(uuid4(), name, blob.sha256, blob.size, "application/octet-stream", blob.key)


async def _run(pipeline: Pipeline, job: Job, ctx: TestContext) -> TestRun:
    rows, cursor = await _rows(pipeline, job, ctx)
    job = replace(job, context=await pipeline.after_ingest(job, cursor, ctx))
    stages = pipeline.stages(job.config)
    known: dict[Any, None] = {}
    items: list[TestItem] = []
    waiting = [(row, 0) for row in rows]
    while waiting:
        batch, waiting = waiting, []
        for row, position in batch:
            if row.key is not None and row.key in known:
                continue
            known[row.key] = None
            item = TestItem(len(items) + 1, _plain(row.input))
            items.append(item)
            waiting += await _work(item, row, stages, position, job, ctx)
    effects = await pipeline.last_effects(job, ctx)
    return TestRun(items, job.context, await pipeline.summarize(job, ctx), effects)


async def _rows(
    pipeline: Pipeline, job: Job, ctx: TestContext
) -> tuple[list[Row], Mapping[str, Any]]:
    inline = pipeline.inline(job.config)
    if inline is not None:
        return list(inline), {}
    rows: list[Row] = []
    cursor: Mapping[str, Any] = {}
    async with aclosing(pipeline.rows(job, ctx, None)) as batches:
        async for batch in batches:
            rows += batch.rows
            cursor = batch.cursor
    return rows, cursor


async def _work(
    item: TestItem, row: Row, stages: Sequence[Stage], position: int, job: Job, ctx: TestContext
) -> list[tuple[Row, int]]:
    """Through the stages from ``position`` on; answers the children with their stages."""
    places = {stage.name: place for place, stage in enumerate(stages)}
    normalized: Mapping[str, Any] | None = None
    children: list[tuple[Row, int]] = []
    for stage in stages[position:]:
        seen = Item(job, item.row_no, item.input, normalized, 0, row.key, row.group, row.noticed)
        [outcome] = stage.cpu([seen]) if stage.cpu else await stage.run([seen], ctx)  # type: ignore[misc]
        item.outcome = outcome
        if outcome is None:
            break
        item.effects += outcome.effects
        children += [
            (Row(child.input, child.key, child.group), places.get(child.stage or "", 0))
            for child in outcome.spawn
        ]
        shown = getattr(outcome, "result", None)
        if shown is not None:
            kept = item.result if isinstance(shown, AddedCells) else {}
            item.result = {
                **kept,
                **(shown.cells if isinstance(shown, AddedCells) else _plain(shown)),
            }
        if not isinstance(outcome, Advance):
            break
        normalized = normalized if outcome.normalized is None else _plain(outcome.normalized)
    return children


def _plain(value: Any) -> Any:
    """As it would come back from the database."""
    return orjson.loads(value) if isinstance(value, str) and value[:1] in '{["' else value
