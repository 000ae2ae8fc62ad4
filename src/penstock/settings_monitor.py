"""Settings of the monitor and of notifications; part of `Settings`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode

from penstock.model.monitor.checks import Thresholds, parse_overrides
from penstock.model.network.notifications import PAGERDUTY_URL


def split_list(given: Any) -> Any:
    """`a, b` in a variable is what `["a", "b"]` is in TOML."""
    if isinstance(given, str):
        return tuple(part.strip() for part in given.split(",") if part.strip())
    return given


Texts = Annotated[tuple[str, ...], NoDecode, BeforeValidator(split_list)]


class MonitorSettings(BaseSettings):
    # What the monitor calls a problem: above (or, for "at least", below) these
    monitor_every_ms: int = Field(
        30_000, ge=100, description="How often the monitor checks the installation."
    )
    monitor_depth: int = Field(50, ge=0, description="Jobs in the queue, at most.")
    monitor_oldest_ms: int = Field(
        300_000, ge=0, description="How long the oldest job waits while workers run, at most."
    )
    monitor_dead_letters: int = Field(10, ge=0, description="Open dead letters, at most.")
    monitor_success_rate: float = Field(
        0.9, ge=0, le=1, description="Share of the last hour's jobs that ended well, at least."
    )
    monitor_least_jobs: int = Field(
        10,
        ge=1,
        description="Jobs of the last hour that it takes to judge their success rate and durations;"
        " of fewer, these checks pass.",
    )
    monitor_duration_ms: int = Field(
        60_000,
        ge=1,
        description="What a job of the last hour took on average, from submit to end, at most.",
    )
    monitor_p50_ms: int = Field(300_000, ge=1, description="… and what half of them took.")
    monitor_p95_ms: int = Field(900_000, ge=1, description="… and what 95 % of them took.")
    monitor_p99_ms: int = Field(1_800_000, ge=1, description="… and what 99 % of them took.")
    monitor_retry_rate: float = Field(
        0.1, ge=0, le=1, description="Retries per settled item in the last 10 minutes, at most."
    )
    monitor_stalled: int = Field(
        5, ge=0, description="Leases taken back in the last 10 minutes, at most."
    )
    monitor_workers: int = Field(2, ge=0, description="Running workers, at least.")
    monitor_cpu: float = Field(
        0.8, gt=0, description="Cores that a worker uses on average, at most."
    )
    monitor_memory: float = Field(
        0.85, gt=0, description="Share of its memory budget that a worker uses, at most."
    )
    monitor_jobs_per_worker: float = Field(
        5,
        ge=0,
        description="Jobs that a worker ends per minute while jobs have waited for 10 minutes, at"
        " least.",
    )
    monitor_provider_error_rate: float = Field(
        0.05, ge=0, le=1, description="Failed calls of a provider in the last 15 minutes, at most."
    )
    monitor_provider_p95_ms: int = Field(
        5000, ge=1, description="What 95 % of the calls of a provider took, at most."
    )
    monitor_overrides: Texts = Field(
        (),
        description="Thresholds of single pipelines and providers, with commas in between:"
        " `crawl.duration_ms=600000, crawl.success_rate=0.5, shopify.provider_p95_ms=8000`.",
    )
    monitor_days: float = Field(
        90, gt=0, le=3650, description="How long metrics of ended jobs are kept, in days."
    )

    smtp_url: SecretStr | None = Field(
        None,
        description="The SMTP server for e-mails:"
        " `smtp://user:password@host:587?from=penstock@example.com&starttls=1`, or `smtps://…`."
        " Unset: none is sent.",
    )
    smtp_seconds: float = Field(
        20, gt=0, le=120, description="How long sending one e-mail may take."
    )
    pagerduty_url: str = Field(
        PAGERDUTY_URL, max_length=1000, description="Where events for PagerDuty are posted to."
    )
    notify_group_ms: int = Field(
        5000,
        ge=0,
        description="Notices for one target within this time are sent as one message.",
    )
    notify_per_hour: int = Field(
        60,
        ge=1,
        description="Messages one target gets in an hour; others wait and are sent together.",
    )
    public_url: str = Field(
        "",
        max_length=1000,
        description="Address of the web UI, for links in notices. Unset: host and port of the API.",
    )
    runbook_url: str = Field(
        "",
        max_length=1000,
        description="Where your own runbook is; alerts link to its sections. Unset: the runbook"
        " that the API serves at `/docs/runbook`.",
    )

    @field_validator("monitor_overrides")
    @classmethod
    def _are_thresholds(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        parse_overrides(value)
        return value

    @property
    def monitor_thresholds(self) -> Thresholds:
        return Thresholds(
            **{name: getattr(self, f"monitor_{name}") for name in Thresholds.names()},
            least_jobs=self.monitor_least_jobs,
            overrides=parse_overrides(self.monitor_overrides),
        )
