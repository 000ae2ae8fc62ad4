"""Measurements of this process, for adaptive sizes and for operators."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import psutil

from penstock.model.adaptive import BUSY_CPU, ErrorSpike, ewma, load_factor
from penstock.model.monitor.histogram import HistogramSet
from penstock.model.network.call_limits import CallLimit

_MINUTE = 60
_TEN_MINUTES = 600
# Of many domains, show those with the lowest limits.
_MAX_CALLS = 50


class Rate:
    """A rate per second, over the last minute or another number of seconds."""

    def __init__(self, window: int = _MINUTE) -> None:
        self._began = time.monotonic()
        self._window = window
        self._seconds: deque[list[float]] = deque(maxlen=window + 1)
        self.total = 0

    def add(self, count: int) -> None:
        self.total += count
        second = float(int(time.monotonic()))
        if self._seconds and self._seconds[-1][0] == second:
            self._seconds[-1][1] += count
        else:
            self._seconds.append([second, count])

    def recent(self) -> float:
        """The count within the window."""
        since = time.monotonic() - self._window
        return sum(count for second, count in list(self._seconds) if second >= since)

    def per_second(self) -> float:
        passed = time.monotonic() - self._began
        return self.recent() / max(1.0, min(self._window, passed))


@dataclass(slots=True)
class Tally:
    """Counts of outcomes."""

    items: int = 0
    done: int = 0
    error: int = 0
    not_found: int = 0
    skipped: int = 0
    retried: int = 0


# Org, pipeline, stage and group.
PacedGroup = tuple[int, str, str, str]
_MOST_WITHOUT_PACE = 64
_MAX_GROUPS = 1000


@dataclass(slots=True)
class StageFigures:
    """Measurements of one stage of a pipeline, over all jobs."""

    item_ms: float | None = None
    claim: int = 0
    lease_ms: int = 0
    spike: ErrorSpike = field(default_factory=ErrorSpike)


@dataclass(slots=True)
class IngestFigures:
    batch_rows: int = 0
    db_latency_ms: float = 0.0
    pool_wait_ms: float = 0.0


class Figures:
    """One per process. Only the event loop writes; any thread may take a snapshot."""

    def __init__(self, memory_bytes: int = 1024 * 1024 * 1024, *, histograms: bool = True) -> None:
        self._memory_bytes = memory_bytes
        self.times = HistogramSet(enabled=histograms)
        self._process = psutil.Process()
        self._began = self._wall = time.monotonic()
        self._cpu = time.process_time()
        self.cpu_share = 0.0
        self.rss = self._process.memory_info().rss
        self._stages: dict[tuple[str, str], StageFigures] = {}
        self._ingest = IngestFigures()
        self._items, self._claims, self._rows = Rate(), Rate(), Rate()
        self._lasting_items, self._lasting_retries = Rate(_TEN_MINUTES), Rate(_TEN_MINUTES)
        self._tally = Tally()
        self._leases_lost = 0
        self._throttles: Counter[str] = Counter()
        self._without_pace: OrderedDict[PacedGroup, int] = OrderedDict()

    def measure(self) -> None:
        """CPU and memory, at most once a second."""
        wall, cpu = time.monotonic(), time.process_time()
        passed, spent = wall - self._wall, cpu - self._cpu
        if passed >= 1.0:
            self._wall, self._cpu = wall, cpu
            self.cpu_share = spent / passed
            self.rss = self._process.memory_info().rss

    @property
    def is_busy(self) -> bool:
        """Whether CPU is short, so that more slices at once would only wait for each other."""
        return self.cpu_share > BUSY_CPU

    @property
    def _load_factor(self) -> float:
        return load_factor(self.cpu_share, self.rss / self._memory_bytes)

    def _stage(self, pipeline: str, stage: str) -> StageFigures:
        return self._stages.setdefault((pipeline, stage), StageFigures())

    def item_ms(self, pipeline: str, stage: str) -> float | None:
        """Recent time per item of this stage in this process, over all jobs."""
        return self._stage(pipeline, stage).item_ms

    def claim_factor(self, pipeline: str, stage: str) -> float:
        """Factor for the size of a claim: less when busy, less when there are many errors."""
        return self._load_factor * self._stage(pipeline, stage).spike.claim_factor

    def spacing(self, pipeline: str, stage: str) -> float:
        """Factor for the delay of retries of this stage."""
        return self._stage(pipeline, stage).spike.spacing

    def claimed(self, pipeline: str, stage: str, items: int, lease_ms: int) -> None:
        self._claims.add(1)
        figures = self._stage(pipeline, stage)
        figures.claim, figures.lease_ms = items, lease_ms

    def worked(self, pipeline: str, stage: str, item_ms: float) -> None:
        figures = self._stage(pipeline, stage)
        figures.item_ms = ewma(figures.item_ms, item_ms)

    def settled(self, pipeline: str, stage: str, tally: Tally) -> None:
        self._items.add(tally.items)
        self._lasting_items.add(tally.items)
        self._lasting_retries.add(tally.retried)
        self._stage(pipeline, stage).spike.record(tally.items, tally.error + tally.retried)
        for name in Tally.__slots__:
            setattr(self._tally, name, getattr(self._tally, name) + getattr(tally, name))

    def called(self, provider: str, seconds: float, *, throttled: bool) -> None:
        """Record a call to a provider."""
        self.times.observe("provider_call", (provider,), seconds)
        if throttled:
            self._throttles[provider] += 1

    def paced(self, group: PacedGroup, pace_ms: int) -> None:
        """Record whether the last item of a group with a pace needed one."""
        if pace_ms:
            self._without_pace.pop(group, None)
            return
        rows = min(_MOST_WITHOUT_PACE, 2 * self._without_pace.pop(group, 1))
        self._without_pace[group] = rows
        if len(self._without_pace) > _MAX_GROUPS:
            self._without_pace.popitem(last=False)

    def rows_without_pace(self, group: PacedGroup) -> int:
        """How many items of a group with a pace to claim at once: one, and more while none of them
        needs a pace."""
        return self._without_pace.get(group, 1)

    def lost_lease(self) -> None:
        self._leases_lost += 1

    def ingested(self, rows: int, batch_rows: int, latency_ms: float, pool_wait_ms: float) -> None:
        """Record a stored batch; the next one has ``batch_rows``."""
        self._rows.add(rows)
        self._ingest = IngestFigures(batch_rows, latency_ms, pool_wait_ms)

    def snapshot(self, calls: Mapping[tuple[str, str], CallLimit]) -> dict[str, Any]:
        tally = self._tally
        return {
            "uptimeMs": int((time.monotonic() - self._began) * 1000),
            "cpuShare": round(self.cpu_share, 3),
            "rssBytes": self.rss,
            "memoryBytes": self._memory_bytes,
            "claimFactor": self._load_factor,
            "itemsPerSecond": round(self._items.per_second(), 2),
            "claimsPerSecond": round(self._claims.per_second(), 2),
            "rowsPerSecond": round(self._rows.per_second(), 2),
            # In the last ten minutes.
            "recent": {
                "items": int(self._lasting_items.recent()),
                "retried": int(self._lasting_retries.recent()),
            },
            "totals": {
                "items": tally.items,
                "done": tally.done,
                "error": tally.error,
                "notFound": tally.not_found,
                "skipped": tally.skipped,
                "retried": tally.retried,
                "claims": self._claims.total,
                "rows": self._rows.total,
                "leasesLost": self._leases_lost,
            },
            "ingest": {
                "batchRows": self._ingest.batch_rows,
                "dbLatencyMs": round(self._ingest.db_latency_ms, 2),
                "poolWaitMs": round(self._ingest.pool_wait_ms, 2),
            },
            "stages": [_stage_shape(name, self._stages[name]) for name in sorted(self._stages)],
            "calls": _calls_shape(calls),
            "histograms": self.times.snapshot(),
            "throttles": dict(self._throttles),
        }


def _stage_shape(name: tuple[str, str], figures: StageFigures) -> dict[str, Any]:
    return {
        "pipeline": name[0],
        "stage": name[1],
        "itemMs": None if figures.item_ms is None else round(figures.item_ms, 3),
        "claim": figures.claim,
        "leaseMs": figures.lease_ms,
        "errorShare": round(figures.spike.share, 3),
        "spacing": figures.spike.spacing,
    }


def _calls_shape(calls: Mapping[tuple[str, str], CallLimit]) -> list[dict[str, Any]]:
    least = sorted(calls.items(), key=lambda named: (named[1].limit, named[0]))
    return [
        {
            "provider": provider,
            "domain": domain,
            "limit": limit.most_at_once,
            "delayMs": round(limit.delay_ms, 1),
        }
        for (provider, domain), limit in least[:_MAX_CALLS]
    ]
