"""The checks of the monitor: figures, their thresholds, and how bad it is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Final

from penstock.model.backpressure import Level
from penstock.model.monitor.health import HealthStatus, status_of

# Rates of fewer items or calls than this say nothing; of fewer jobs they are never critical, and of
# fewer than `Thresholds.least_jobs` they say nothing either.
LEAST_SAMPLE: Final = 20
# Where the API serves the runbook.
RUNBOOK_PATH: Final = "/docs/runbook"
# The reason of a `worker.error`: its lease expired, or it died.
LEASE_TAKEN_BACK: Final = "LEASE_TAKEN_BACK"
# Jobs have waited for so long before the pace of workers is judged.
_BUSY_MS: Final = 600_000


class Severity(StrEnum):
    WARNING = "warning"
    CRITICAL = "critical"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """One for each check; ``overrides`` are those of single pipelines and providers, by check.
    Rates and durations of fewer jobs than ``least_jobs`` pass."""

    depth: float = 50
    oldest_ms: float = 300_000
    dead_letters: float = 10
    success_rate: float = 0.9
    duration_ms: float = 60_000
    p50_ms: float = 300_000
    p95_ms: float = 900_000
    p99_ms: float = 1_800_000
    retry_rate: float = 0.1
    stalled: float = 5
    workers: float = 2
    cpu: float = 0.8
    memory: float = 0.85
    jobs_per_worker: float = 5
    provider_error_rate: float = 0.05
    provider_p95_ms: float = 5000
    least_jobs: int = 10
    overrides: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        aside = ("overrides", "least_jobs")
        return tuple(one.name for one in fields(cls) if one.name not in aside)

    def of(self, name: str, scope: str) -> float:
        own: float | None = self.overrides.get((scope, name))
        threshold: float = getattr(self, name) if own is None else own
        return threshold


_OF_PIPELINES: Final = ("success_rate", "duration_ms", "p50_ms", "p95_ms", "p99_ms")
_OF_PROVIDERS: Final = ("provider_error_rate", "provider_p95_ms")


def parse_overrides(given: Sequence[str]) -> dict[tuple[str, str], float]:
    """From entries such as `crawl.duration_ms=600000`; raises ValueError."""
    found: dict[tuple[str, str], float] = {}
    for one in given:
        target, _, value = one.partition("=")
        scope, _, name = target.strip().rpartition(".")
        if not scope or name not in (*_OF_PIPELINES, *_OF_PROVIDERS):
            known = ", ".join((*_OF_PIPELINES, *_OF_PROVIDERS))
            raise ValueError(f"{one!r}: write `pipeline.check=value`; checks: {known}")
        found[scope, name] = float(value)
    return found


@dataclass(frozen=True, slots=True)
class JobFigures:
    """Jobs of one pipeline, or of all, that ended in the last hour. Cancelled jobs are counted, and
    are neither successes nor failures; they have no part in the durations."""

    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0
    rows: int = 0
    duration_ms: float | None = None
    run_ms: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    p99_ms: float | None = None

    @property
    def success_rate(self) -> float | None:
        ended = self.succeeded + self.failed
        return self.succeeded / ended if ended else None


@dataclass(frozen=True, slots=True)
class ProviderFigures:
    """Calls of one provider in the last 15 minutes."""

    calls: int = 0
    failed: int = 0
    throttled: int = 0
    p95_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that the checks look at."""

    depth: int = 0
    level: Level = Level.HEALTHY
    waiting: int = 0
    active: int = 0
    oldest_ms: int = 0
    dead_letters: int = 0
    workers: int = 0
    # Averages over the workers: cores used, share of the memory budget.
    cpu: float | None = None
    memory: float | None = None
    # In the last 10 minutes.
    settled_items: int = 0
    retried_items: int = 0
    stalled: int = 0
    ended_jobs: int = 0
    jobs: JobFigures = field(default_factory=JobFigures)
    # Jobs of pipelines without thresholds of their own.
    other_jobs: JobFigures = field(default_factory=JobFigures)
    pipelines: Mapping[str, JobFigures] = field(default_factory=dict)
    providers: Mapping[str, ProviderFigures] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A figure and its threshold. ``scope``: the pipeline or provider, empty for all. A figure that
    is unknown passes, and so does one that is bad for a short time only (``brief``) or that comes
    from few jobs only (``few``)."""

    name: str
    value: float | None
    threshold: float
    scope: str = ""
    # Whether values above the threshold fail, or values below.
    at_most: bool = True
    brief: bool = False
    few: bool = False
    # Jobs that the figure comes from; few of them are never critical.
    sample: int | None = None

    @property
    def key(self) -> str:
        """Names the check in alerts."""
        return f"{self.name}:{self.scope}" if self.scope else self.name

    @property
    def ok(self) -> bool:
        if self.value is None or self.brief or self.few:
            return True
        return self.value <= self.threshold if self.at_most else self.value >= self.threshold

    @property
    def severity(self) -> Severity:
        """Nothing runs, or what runs does not keep up by far: critical."""
        if self.value is None or self.ok:
            return Severity.WARNING
        if self.name == "workers":
            return Severity.CRITICAL if self.value == 0 else Severity.WARNING
        if self.name == "success_rate":
            enough = self.sample is None or self.sample >= LEAST_SAMPLE
            bad = enough and self.value < self.threshold / 2
            return Severity.CRITICAL if bad else Severity.WARNING
        return Severity.WARNING

    @property
    def message(self) -> str:
        return _describe(self)


def checks_of(measured: Measured, limits: Thresholds) -> list[HealthCheck]:
    """Every check, with the figures of this moment."""
    at_least, at_most = False, True
    retried = None
    if measured.settled_items >= LEAST_SAMPLE:
        retried = measured.retried_items / measured.settled_items
    pace = None
    if measured.workers and measured.waiting and measured.oldest_ms >= _BUSY_MS:
        pace = measured.ended_jobs / 10 / measured.workers
    whole: Iterable[tuple[str, float | None, bool]] = (
        ("depth", measured.depth, at_most),
        ("oldest_ms", measured.oldest_ms if measured.workers else None, at_most),
        ("dead_letters", measured.dead_letters, at_most),
        ("retry_rate", retried, at_most),
        ("stalled", measured.stalled, at_most),
        ("workers", measured.workers, at_least),
        ("cpu", measured.cpu, at_most),
        ("memory", measured.memory, at_most),
        ("jobs_per_worker", pace, at_least),
    )
    made = [HealthCheck(name, value, getattr(limits, name), "", at) for name, value, at in whole]
    made += _job_checks(measured, limits)
    made += _provider_checks(measured, limits)
    return made


def _job_checks(measured: Measured, limits: Thresholds) -> Iterator[HealthCheck]:
    """Of all jobs, but those of pipelines with a threshold of their own, which are judged apart."""
    own = {scope for scope, name in limits.overrides if name in _OF_PIPELINES}
    judged = [("", measured.other_jobs if own else measured.jobs)]
    judged += [(scope, measured.pipelines.get(scope, JobFigures())) for scope in sorted(own)]
    for scope, jobs in judged:
        for name in _OF_PIPELINES:
            value: float | None = getattr(jobs, name)
            at_most = name != "success_rate"
            limit, sample = limits.of(name, scope), jobs.succeeded + jobs.failed
            few = sample < limits.least_jobs
            yield HealthCheck(name, value, limit, scope, at_most, few=few, sample=sample)


def _provider_checks(measured: Measured, limits: Thresholds) -> Iterator[HealthCheck]:
    for provider, calls in sorted(measured.providers.items()):
        enough = calls.calls >= LEAST_SAMPLE
        values = {
            "provider_error_rate": calls.failed / calls.calls if enough else None,
            "provider_p95_ms": calls.p95_ms if enough else None,
        }
        for name, value in values.items():
            yield HealthCheck(name, value, limits.of(name, provider), provider)


def status_of_checks(checks: Sequence[HealthCheck]) -> HealthStatus:
    return status_of(sum(not check.ok for check in checks))


_TEXTS: Final = {
    "depth": "{value} jobs are in the queue; the limit is {threshold}.",
    "oldest_ms": "The oldest job has waited {value}; the limit is {threshold}.",
    "dead_letters": "{value} dead letters are open; the limit is {threshold}.",
    "success_rate": "{value} of the last hour's jobs{where} succeeded; at least {threshold}"
    " should.",
    "duration_ms": "Jobs{where} took {value} on average in the last hour; the limit is"
    " {threshold}.",
    "p50_ms": "Half of the last hour's jobs{where} took over {value}; the limit is {threshold}.",
    "p95_ms": "5% of the last hour's jobs{where} took over {value}; the limit is {threshold}.",
    "p99_ms": "1% of the last hour's jobs{where} took over {value}; the limit is {threshold}.",
    "retry_rate": "{value} of the items of the last 10 minutes were retried; the limit is"
    " {threshold}.",
    "stalled": "{value} leases were taken back in the last 10 minutes; the limit is {threshold}.",
    "workers": "Running workers: {value}; at least {threshold} are expected.",
    "cpu": "Workers use {value} of a CPU core on average; the limit is {threshold}.",
    "memory": "Workers use {value} of their memory budget on average; the limit is {threshold}.",
    "jobs_per_worker": "A worker finishes {value} jobs a minute; at least {threshold} are"
    " expected.",
    "provider_error_rate": "{value} of the calls to {scope} failed in the last 15 minutes; the"
    " limit is {threshold}.",
    "provider_p95_ms": "5% of the calls to {scope} took over {value} in the last 15 minutes; the"
    " limit is {threshold}.",
}


def _describe(check: HealthCheck) -> str:
    text = _TEXTS[check.name]
    if check.name == "workers" and check.value == 0:
        return "No worker is running."
    where = f" of {check.scope}" if check.scope else ""
    value, threshold = _shown(check.name, check.value), _shown(check.name, check.threshold)
    return text.format(value=value, threshold=threshold, where=where, scope=check.scope)


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "unknown"
    if name.endswith("_ms"):
        return duration_text(value)
    if name.endswith("_rate") or name in ("cpu", "memory"):
        return f"{value:.0%}"
    return f"{value:,.1f}".removesuffix(".0")


def duration_text(ms: float) -> str:
    seconds = ms / 1000
    if seconds < 1:
        return f"{ms:.0f} ms"
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes = seconds / 60
    return f"{minutes:.3g} min" if minutes < 120 else f"{minutes / 60:.3g} h"


def runbook_link(base: str, check: str) -> str:
    """The section of the runbook about a check."""
    words = "".join(f"-{c.lower()}" if c.isupper() else c for c in check).replace("_", "-")
    return f"{base}#{words}"
