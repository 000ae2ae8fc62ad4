"""What the engine works with, built by `wiring`."""

from __future__ import annotations

import random
from asyncio import Semaphore
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from penstock.engine.effects import EffectRegistry
from penstock.engine.failpoints import Failpoints
from penstock.engine.lane_limit import LaneLimit
from penstock.engine.lookup_cache import LookupCache
from penstock.engine.queue_depth import QueueDepthCache
from penstock.engine.worker.figures import Figures
from penstock.model.errors import BadInput, PermanentError
from penstock.model.monitor.traces import NoTraces, Traces
from penstock.model.pipeline import Config, FileRef, Job, Pipeline
from penstock.model.places.ports import Places
from penstock.model.ports import Blobs, Broker, Calls, Children, Fetchers, Log, Sealer, Service
from penstock.model.shops.provider import ProviderCall, Providers, ShopConnection
from penstock.model.sources.search import SourceSearch
from penstock.model.text.wrong_input import reasons_by_field
from penstock.settings import Settings
from penstock.store.database import Database, from_json
from penstock.store.jobs.claims import ClaimedJob

ShopCalls = Callable[[ShopConnection, float], ProviderCall]
MAX_RANGES = 2
MAX_SUBMIT_LOOKS = 8
# Parsed configs of recent jobs that a process keeps.
MAX_CACHED_CONFIGS = 128


@dataclass(frozen=True)
class Runtime:
    """Database, pipelines, children, broker and the rest. One per process."""

    settings: Settings
    db: Database
    pipelines: Mapping[str, Pipeline]
    blobs: Blobs
    # One pool per purpose, so that slow work of one does not delay the others.
    children: Children
    preview_children: Children
    picture_children: Children
    broker: Broker
    calls: Calls
    fetchers: Fetchers
    sealer: Sealer
    log: Log
    # Folders, buckets and servers that files come from and go to.
    places: Places
    effects: EffectRegistry = field(default_factory=EffectRegistry)
    # Kinds of shops that products are imported from, by their key.
    providers: Providers = field(default_factory=dict)
    # Calls of a shop within its limits, for so many seconds.
    shop_calls: ShopCalls | None = None
    # Checks and tests configured sources.
    source_search: SourceSearch | None = None
    # What `Context.port` gives to stages, by the kind of port.
    ports: Mapping[type, Any] = field(default_factory=dict)
    # The background services the leader runs.
    services: Callable[[Runtime], Sequence[Service]] = lambda runtime: ()
    failpoints: Failpoints = field(default_factory=Failpoints)
    chance: random.Random = field(default_factory=random.Random)
    queue: QueueDepthCache = field(default_factory=QueueDepthCache)
    figures: Figures = field(default_factory=Figures)
    lane_limit: LaneLimit = field(default_factory=LaneLimit)
    traces: Traces = field(default_factory=NoTraces)
    lookup_cache: LookupCache = field(default_factory=LookupCache)
    # Submits that may check the first rows of their file at once; others skip the check.
    submit_looks: Semaphore = field(default_factory=lambda: Semaphore(MAX_SUBMIT_LOOKS))
    # Ranges of rows that are in memory with their documents: one is written while the next one is
    # in the child process.
    range_slots: Semaphore = field(default_factory=lambda: Semaphore(MAX_RANGES))
    # One of them is in a child process at a time: a second child would share the worker's core.
    range_child: Semaphore = field(default_factory=lambda: Semaphore(1))

    def pipeline(self, name: str) -> Pipeline:
        try:
            return self.pipelines[name]
        except KeyError:
            known = ", ".join(sorted(self.pipelines))
            raise BadInput(
                "INVALID_PARAMETERS", f"There is no pipeline {name!r}. Known: {known}."
            ) from None

    def prepare_children(self) -> None:
        """Start a child process in advance, for the pipelines that name what it imports."""
        modules = {name for one in self.pipelines.values() for name in one.child_modules}
        if modules:
            self.children.prepare(modules)

    def item_timeout_ms(self, pipeline: str, stage: str) -> int:
        """How long one item of a stage may work."""
        known = self.pipelines.get(pipeline)
        asked = 0 if known is None else known.item_timeouts_ms.get(stage, 0)
        return max(self.settings.item_timeout_ms, asked)

    def job(self, row: ClaimedJob) -> Job:
        """The job of a row, as its pipeline sees it."""
        pipeline = self.pipeline(row.pipeline)
        file = None
        if row.file_id is not None:
            assert row.size is not None
            file = FileRef(
                row.file_id, row.file_name, row.sha256, row.size, row.media_type, row.blob_key
            )
        counters = {
            name: getattr(row, name)
            for name in ("total", "pending", "processing", "done", "error", "not_found", "skipped")
        }
        return Job(
            row.id, row.org_id, row.pipeline, parse_config(pipeline, row.config), file,
            from_json(row.header), from_json(row.context) or {}, counters,
            tuple(_file(from_json(one)) for one in row.more_files),
        )  # fmt: skip


def _file(document: Mapping[str, Any]) -> FileRef:
    known = {name: document[name] for name in FileRef.__slots__}
    return FileRef(**{**known, "id": UUID(known["id"])})


def parse_config(pipeline: Pipeline, text: str) -> Any:
    """A stored config. Recent ones are cached: every slice of a job needs its config several times,
    and validation may compile a whole profile."""
    try:
        return parsed_config(pipeline.Config, text)
    except ValidationError as error:
        # The config was valid when it was stored: a newer version no longer accepts it.
        raise PermanentError("INVALID_CONFIG", first_problem(error)) from error


@lru_cache(maxsize=MAX_CACHED_CONFIGS)
def parsed_config(model: type[Config], text: str) -> Config:
    """Configs are frozen, so all jobs with the same text can share one."""
    return model.model_validate_json(text)


def first_problem(error: ValidationError) -> str:
    """An unknown field first: what else is wrong may follow from its wrong name."""
    problems = error.errors(include_url=False)
    problems.sort(key=lambda one: one["type"] != "extra_forbidden")
    field, reason = next(iter(reasons_by_field(problems).items()))
    return f"{'.'.join(part for part in ('config', field) if part)}: {reason}"
