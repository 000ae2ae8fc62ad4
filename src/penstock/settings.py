"""Every setting, typed. Environment variables carry the prefix ``PENSTOCK_``; where else a setting
may stand, and which place wins: `settings_sources`."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Literal

import platformdirs
from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from penstock import __version__
from penstock.model.backpressure import Levels
from penstock.model.crawl.pages import CrawlSettings
from penstock.model.network.addresses import AllowedHost, parse_exempt
from penstock.model.network.call_limits import CallBounds
from penstock.model.network.circuits import CircuitRules
from penstock.model.network.fetching import FetchPurpose
from penstock.model.network.provider_limits import ProviderLimits
from penstock.model.network.token_bucket import Rate
from penstock.model.quota import Quota, ResearchQuota
from penstock.model.shops.provider import OAuthApp
from penstock.settings_monitor import MonitorSettings, Texts
from penstock.settings_places import PlaceSettings
from penstock.settings_sources import PREFIX, Sources

MEBIBYTE = 1024 * 1024


# The setting that lists the addresses allowed for each purpose of a fetch.
FETCH_LISTS = {
    FetchPurpose.FILE: "fetch_allow",
    FetchPurpose.WEBHOOK: "webhook_allow",
    FetchPurpose.PROVIDER: "provider_allow",
    FetchPurpose.PAGE: "crawl_allow",
    FetchPurpose.PLACE: "watch_allow",
}


class Settings(MonitorSettings, PlaceSettings):
    """Bounds, not constants: the system moves between them by what it measures."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", frozen=True, ignored_types=(cached_property,)
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, Sources(settings_cls)

    # Where things live
    data_dir: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_path("penstock")),
        description="Folder for the embedded database, blobs, keys and locks.",
    )
    database_url: SecretStr | None = Field(
        None, description="PostgreSQL 15 or newer; unset runs the embedded server."
    )
    broker: Literal["postgres"] = Field(
        "postgres", description="What wakes workers: PostgreSQL's NOTIFY."
    )
    database_pooler: Literal["none", "transaction"] = Field(
        "none",
        description="`transaction`: behind `PENSTOCK_DATABASE_URL` is a pooler that shares sessions"
        " (PgBouncer with `pool_mode=transaction`). The API then asks through it.",
    )
    database_direct_url: SecretStr | None = Field(
        None,
        description="The same database without that pooler, for workers, migrations, wake-ups and"
        " locks; needed with it.",
    )
    database_schema: str = Field(
        "penstock", pattern=r"^[a-z_][a-z0-9_]{0,40}$", description="Schema that holds all tables."
    )
    host: str = Field("127.0.0.1", description="Address the API listens on.")
    port: int = Field(8600, ge=1, le=65535, description="Port the API listens on.")
    max_streams: int = Field(
        1000, ge=2, description="Streams of events one API process keeps open at once."
    )
    streams_per_org: int = Field(100, ge=1, description="… for one org.")
    streams_per_key: int = Field(20, ge=1, description="… for one key or session.")
    trusted_proxies: Texts = Field(
        (),
        description="Addresses and networks of reverse proxies, whose `X-Forwarded-For` and"
        " `X-Forwarded-Proto` are believed (`127.0.0.1,::1` for one on the same machine); none.",
    )
    cors_origins: Texts = Field(
        (), description="Web origins whose pages may call the API (`https://app.example`); none."
    )
    import_roots: Texts = Field(
        (),
        description="Folders whose files a job may name by `path`; `{org}` in one stands for the"
        " caller's org. None: no job may.",
    )
    import_url_ms: int = Field(
        60_000, ge=100, description="Longest the file of a job's `url` may take to come."
    )

    url: str | None = Field(
        None,
        pattern=r"^https?://",
        description="The API that commands talk to; unset: this machine's own database.",
    )
    key: SecretStr | None = Field(None, description="The API key that commands use with the URL.")

    # Workers
    workers: int = Field(
        default_factory=lambda: max(1, os.cpu_count() or 1),
        ge=0,
        description="Worker processes `penstock up` starts; one per core by default.",
    )
    worker_slots: int = Field(
        5, ge=1, le=100,
        description="Slices at once per worker process; one that waits for other servers counts"
        " a sixteenth.",
    )  # fmt: skip
    worker_target_slice_ms: int = Field(5000, ge=50, description="How long a slice should last.")
    claim_min: int = Field(1, ge=1, description="Smallest claim, in items.")
    claim_max: int = Field(2000, ge=1, le=20000, description="Largest claim, in items.")
    claim_max_bytes: int = Field(16 * MEBIBYTE, ge=1024, description="Largest claim, in bytes.")
    safety_factor: float = Field(0.7, gt=0, le=1, description="Share of the target slice to fill.")
    lock_floor_ms: int = Field(15000, ge=200, description="Shortest lease of a slice.")
    lock_cap_ms: int = Field(30000, ge=200, description="Longest lease of a slice.")
    org_max_slices: int = Field(64, ge=1, description="Running slices one org may hold.")
    max_attempts_error: int = Field(3, ge=0, description="Retries of an unforeseen error.")
    max_attempts_not_found: int = Field(2, ge=0, description="Retries of a lookup without a match.")
    item_timeout_ms: int = Field(60000, ge=100, description="Longest one item may work.")
    poll_ms: int = Field(
        1000, ge=10, description="How often an idle worker looks without a wake-up."
    )
    sweep_ms: int = Field(2000, ge=50, description="How often expired slices are looked for.")
    job_limit_ms: int = Field(
        7_200_000,
        ge=1000,
        description="Longest a job may be worked at without anything settled; then JOB_TIMEOUT.",
    )
    orphan_hours: int = Field(
        24, ge=1, description="How long an upload that no job uses is kept, and what is half made."
    )
    shutdown_ms: int = Field(10000, ge=0, description="Time a stopping worker gives its slices.")

    histograms: bool = Field(
        True, description="Measure durations of slices, calls and requests for `/metrics`."
    )
    otel_endpoint: str | None = Field(
        None,
        description="Where traces are sent by OTLP over HTTP, such as"
        " http://collector:4318/v1/traces; needs the extra `otel`.",
    )
    worker_memory_mb: int = Field(
        1024, ge=64, description="Memory of a worker process; above 80 % of it claims are halved."
    )
    calls_min: int = Field(1, ge=1, description="Calls at once a provider always gets.")
    calls_start: int = Field(4, ge=1, description="Calls at once a provider gets at first.")
    calls_max: int = Field(32, ge=1, le=1000, description="Calls at once a provider gets at most.")
    calls_delay_cap_ms: int = Field(
        30000, ge=0, description="Longest delay added between calls to one domain."
    )

    # Providers: rates per org, company and domain, shared by all workers
    limit_roastify: str = Field(
        "100/min burst 20",
        description="Calls to Roastify: rate, and how many at once after a rest.",
    )
    limit_shopify: str = Field(
        "2/s burst 40",
        description="Calls to a Shopify shop, until its answers report its own cost bucket.",
    )
    limit_woocommerce: str = Field(
        "60/min burst 10", description="Calls to a WooCommerce shop, per address."
    )
    limit_default: str = Field("60/min burst 10", description="Calls to any other provider.")
    limits: Texts = Field(
        (),
        description="Rates of further providers, by name (`acme=5/s burst 20, other=30/min`).",
    )
    circuit_failures: int = Field(
        5, ge=1, le=1000, description="Failed calls in a row after which a provider is left alone."
    )
    circuit_open_ms: int = Field(
        60_000, ge=100, description="… for so long; then one call probes whether it is back."
    )

    thumbnail_sizes: Texts = Field(
        ("150", "400", "800"),
        max_length=8,
        description="Thumbnails of imported pictures: the boxes they fit into, in pixels.",
    )

    # Ingest
    ingest_min_rows: int = Field(64, ge=1, description="First and smallest ingest batch.")
    ingest_max_rows: int = Field(5000, ge=1, description="Largest ingest batch, in rows.")
    ingest_max_batch_bytes: int = Field(8 * MEBIBYTE, ge=1024, description="… and in bytes.")
    db_p50_ms: float = Field(
        20, gt=0, description="Usual batch latency per 1,000 rows to stay under."
    )
    db_p95_ms: float = Field(
        100, gt=0, description="Batch latency that shrinks the next batch hard."
    )
    max_file_bytes: int = Field(100 * MEBIBYTE, ge=1, description="Largest upload.")
    max_rows: int = Field(5_000_000, ge=1, description="Most rows of one file.")
    max_columns: int = Field(2000, ge=1, description="Most columns of one file.")
    max_cell_bytes: int = Field(1 * MEBIBYTE, ge=1, description="Largest cell.")
    max_cells: int = Field(50_000_000, ge=1, description="Most cells of one sheet.")
    max_inflated_bytes: int = Field(
        1024 * MEBIBYTE, ge=1, description="Most bytes an archive or a workbook may unpack to."
    )
    max_nesting: int = Field(64, ge=1, le=500, description="Deepest nesting of JSON and XML.")
    child_memory_bytes: int = Field(
        1024 * MEBIBYTE, ge=64 * MEBIBYTE, description="Memory of a parser child."
    )

    previews_at_once: int = Field(
        2, ge=2, le=64, description="Previews an API process makes at once; an org gets one less."
    )
    preview_seconds: float = Field(
        20.0, gt=0, description="Longest preview, the wait for its turn included."
    )

    submit_look_seconds: float = Field(
        3.0, ge=0, le=30, description="How long a submit may look at the first rows of its file for"
        " questions; 0: only the job itself does."
    )  # fmt: skip

    exports_at_once: int = Field(
        2, ge=2, le=64, description="Exports an API process writes at once; an org gets one less."
    )

    # What an org may keep
    quota_file_bytes: int = Field(
        100 * 1024 * MEBIBYTE, ge=0, description="Files of one org, in bytes; 0: any amount."
    )
    quota_rows: int = Field(100_000_000, ge=0, description="Rows of one org's jobs; 0: any number.")
    quota_row_bytes: int = Field(
        200 * 1024 * MEBIBYTE, ge=0, description="… in bytes, as they were read; 0: any amount."
    )
    research_user_day: int = Field(
        500, ge=0, description="Research requests of one user per day; 0: any number."
    )
    research_user_month: int = Field(5000, ge=0, description="… per month; 0: any number.")
    research_org_day: int = Field(
        2000, ge=0, description="Research requests of one org per day; 0: any number."
    )
    research_org_month: int = Field(20_000, ge=0, description="… per month; 0: any number.")
    research_rate: str = Field(
        "10/s burst 10",
        description="How many research jobs begin in this installation; others begin later.",
    )
    disk_reserve_bytes: int = Field(
        512 * MEBIBYTE,
        ge=0,
        description="Room on the data folder's disk below which no file and no job is taken.",
    )
    max_row_bytes: int = Field(
        4 * MEBIBYTE, ge=1024, description="Largest row, with all its cells, as JSON."
    )

    # What leaves: suppliers' servers, receivers of webhooks
    fetch_allow: str = Field(
        "",
        description="Hosts and networks that files by URL and pictures may come from though they"
        " are not public: names, addresses or networks, with commas in between, each with or"
        " without a port (`files.internal,10.1.0.0/16,127.0.0.1:8080`). What they answer can be"
        " read by every member. This server's own addresses must be named one by one.",
    )
    webhook_allow: str = Field(
        "", description="The same for receivers of webhooks (`hooks.internal,10.1.0.0/16`)."
    )
    provider_allow: str = Field(
        "",
        description="The same for shops and the pictures of their products; `127.0.0.1` permits the"
        " shops of `penstock sandbox` on this machine.",
    )
    crawl_allow: str = Field("", description="The same for sites that are crawled.")
    crawl_user_agent: str = Field(
        f"Penstock/{__version__}",
        pattern=r"^[\x21-\x7e][\x20-\x7e]{0,199}$",
        description="How the crawler names itself to sites. Add a way to reach you, such as"
        " `Penstock/1.0 (+https://example.com/crawler)`. The part before `/` is the name that"
        " robots.txt addresses.",
    )
    crawl_max_page_bytes: int = Field(
        10 * MEBIBYTE, ge=1024, le=100 * MEBIBYTE, description="Largest page, decompressed."
    )
    crawl_versions_kept: int = Field(
        20, ge=2, le=1000, description="Versions of each page that are kept."
    )

    sandbox_url: str = Field(
        "http://127.0.0.1:8700",
        pattern=r"^https?://",
        description="Where `penstock sandbox` serves, for the demo connection of the UI. It is"
        " offered only if `PENSTOCK_PROVIDER_ALLOW` permits that address.",
    )
    shopify_client_id: str | None = Field(
        None, description="Client id of your Shopify app, for connecting shops without a token."
    )
    shopify_client_secret: SecretStr | None = Field(None, description="The secret of that app.")
    webhook_timeout_ms: int = Field(
        15000, ge=100, le=50000, description="Longest a receiver of a webhook may take to answer."
    )
    webhook_log_days: float = Field(
        30, gt=0, le=3650, description="How long the log of webhooks is kept, in days."
    )
    secret_key: SecretStr | None = Field(
        None,
        description="Seals stored secrets: 32 bytes in base64, or several with commas in between, "
        "of which the first seals and all open. Unset: the file below, or `secret.key` in the "
        "data folder, made by itself with the embedded database.",
    )
    secret_key_file: Path | None = Field(None, description="A file with such a key or keys.")

    # Backpressure: jobs waiting, running and delayed
    depth_healthy: int = Field(1000, ge=0, description="Most jobs of a healthy queue.")
    depth_degraded: int = Field(
        5000, ge=0, description="… of a degraded one, in which basic and trial jobs wait."
    )
    depth_critical: int = Field(
        10000,
        ge=0,
        le=1_000_000,
        description="… of a critical one, in which only enterprise may submit; above, no org may.",
    )
    depth_delay_ms: int = Field(
        300_000, ge=0, description="How long jobs of small plans wait in a degraded queue."
    )
    lane_limit: str | None = Field(
        None,
        description="How many jobs of one lane may begin (`100/min burst 100`); those beyond begin"
        " later. Per API process. Unset, since it contradicts a thousand imports at once.",
    )
    depth_check_ms: int = Field(
        2000, ge=50, description="How often the queue's level is looked at."
    )
    depth_alert_ms: int = Field(
        300_000, ge=1000, description="Interval of the alert during an overload."
    )

    # Keeping
    cache_hours: float = Field(
        24, ge=0, le=8760, description="How long results of a file are used again; 0: never."
    )
    dead_letter_days: float = Field(
        30, gt=0, le=3650, description="How long dead letters are kept, in days."
    )

    audit_days: float = Field(
        365, gt=0, le=36500, description="How long the audit log goes back, in days."
    )

    retention: str = Field(
        "90",
        description="Days that ended jobs are kept, or by kind: `90 items=30 files=7 doneImports=9`"
        " (howto/retention.md); 0: forever.",
    )

    # Signing in
    admin_email: str = Field(
        "admin@localhost", max_length=254, pattern=r"^[^@\s]+@[^@\s]+$",
        description="E-mail address of the first admin.",
    )  # fmt: skip
    admin_password: SecretStr | None = Field(
        None, description="Password of the first admin; unset: one is made and shown once."
    )
    admin_password_file: Path | None = Field(None, description="… or a file that holds it.")
    session_idle_minutes: float = Field(
        480, gt=0, description="How long a session lives without being used."
    )
    session_hours: float = Field(168, gt=0, description="How long a session lives at most.")
    sign_in_failures: int = Field(
        20,
        ge=1,
        le=1000,
        description="Failed tries to sign in to one account from one network (/24, IPv6 /48) in"
        " an hour.",
    )
    sign_in_failures_account: int = Field(
        200,
        ge=1,
        le=100_000,
        description="… to one account from all networks together; those that have signed in to it"
        " before are not bound by this.",
    )
    sign_in_failures_network: int = Field(
        100,
        ge=1,
        le=100_000,
        description="… from one network to all accounts; wrong API keys are counted apart.",
    )
    requests_per_second: float = Field(
        50,
        ge=0,
        description="Requests per key or session and API process; a user gets twice, an org four"
        " times as many. 0: any number.",
    )
    requests_burst: int = Field(200, ge=1, description="… and how many at once after a rest.")

    # What is shown
    global_pending: bool = Field(
        False, description="Whether the open rows of all jobs can be listed together."
    )

    # For operators and tests
    loop_limit_ms: int = Field(
        30_000,
        ge=1000,
        description="A worker or API process whose event loop does not turn for so long ends, and"
        " is started again.",
    )
    slow_statement_ms: float = Field(
        250, gt=0, description="Statements of the API that take longer are logged, by name."
    )
    test_pipelines: bool = Field(
        False,
        description="Whether the pipeline `noop`, made for tests and trials of the engine, exists,"
        " and jobs that never end may be submitted. Set it for all processes alike.",
    )
    log_level: str = Field("info", pattern="^(debug|info|warning|error)$", description="Log level.")

    @model_validator(mode="after")
    def _pooler_and_direct_address(self) -> Settings:
        pooled = self.database_pooler == "transaction"
        if pooled and (self.database_url is None or self.database_direct_url is None):
            raise ValueError(
                "PENSTOCK_DATABASE_POOLER=transaction needs PENSTOCK_DATABASE_URL (the pooler) and"
                " PENSTOCK_DATABASE_DIRECT_URL (PostgreSQL itself)"
            )
        if self.database_direct_url is not None and not pooled:
            raise ValueError(
                "PENSTOCK_DATABASE_DIRECT_URL goes with PENSTOCK_DATABASE_POOLER=transaction"
            )
        return self

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Settings:
        for low, high in (
            ("claim_min", "claim_max"),
            ("lock_floor_ms", "lock_cap_ms"),
            ("ingest_min_rows", "ingest_max_rows"),
            ("db_p50_ms", "db_p95_ms"),
            ("calls_min", "calls_start"),
            ("calls_start", "calls_max"),
            ("depth_healthy", "depth_degraded"),
            ("depth_degraded", "depth_critical"),
        ):
            if getattr(self, low) > getattr(self, high):
                raise ValueError(f"PENSTOCK_{low.upper()} must not exceed PENSTOCK_{high.upper()}")
        return self

    @field_validator(*FETCH_LISTS.values())
    @classmethod
    def _readable(cls, value: str) -> str:
        parse_exempt(value)
        return value

    @field_validator("limit_roastify", "limit_shopify", "limit_woocommerce", "limit_default")
    @classmethod
    def _is_rate(cls, value: str) -> str:
        Rate.parse(value)
        return value

    @field_validator("limits")
    @classmethod
    def _are_rates(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            name, _, rate = one.partition("=")
            if not name.strip() or not rate:
                raise ValueError(f"{one!r}: write `provider=5/s burst 20`")
            Rate.parse(rate)
        return value

    @field_validator("thumbnail_sizes")
    @classmethod
    def _are_sizes(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(one.isdecimal() and 16 <= int(one) <= 4000 for one in value):
            raise ValueError("sizes are from 16 to 4000 pixels")
        return value

    @field_validator("lane_limit", "research_rate")
    @classmethod
    def _is_rate_or_none(cls, value: str | None) -> str | None:
        if value is not None:
            Rate.parse(value)
        return value

    @property
    def thumbnail_boxes(self) -> tuple[int, ...]:
        return tuple(sorted({int(one) for one in self.thumbnail_sizes}))

    @property
    def provider_limits(self) -> ProviderLimits:
        named = dict(one.split("=", 1) for one in self.limits)
        rates = {
            "roastify": self.limit_roastify,
            "shopify": self.limit_shopify,
            "woocommerce": self.limit_woocommerce,
            **{name.strip(): rate for name, rate in named.items()},
        }
        return ProviderLimits(
            {name: Rate.parse(rate) for name, rate in rates.items()},
            Rate.parse(self.limit_default),
            CircuitRules(self.circuit_failures, self.circuit_open_ms, self.item_timeout_ms),
        )

    @property
    def crawl_settings(self) -> CrawlSettings:
        return CrawlSettings(
            self.crawl_user_agent, self.crawl_max_page_bytes, self.crawl_versions_kept
        )

    def fetch_exempt(self, purpose: FetchPurpose) -> tuple[AllowedHost, ...]:
        return parse_exempt(getattr(self, FETCH_LISTS[purpose]))

    @property
    def oauth_apps(self) -> dict[str, OAuthApp]:
        """Our apps at providers with an install flow, by provider."""
        if self.shopify_client_id is None or self.shopify_client_secret is None:
            return {}
        secret = self.shopify_client_secret.get_secret_value()
        return {"shopify": OAuthApp(self.shopify_client_id, secret)}

    @property
    def quota(self) -> Quota:
        return Quota(
            self.quota_file_bytes or None, self.quota_rows or None, self.quota_row_bytes or None
        )

    @property
    def research_quota(self) -> ResearchQuota:
        return ResearchQuota(
            self.research_user_day or None, self.research_user_month or None,
            self.research_org_day or None, self.research_org_month or None,
        )  # fmt: skip

    @property
    def depth_levels(self) -> Levels:
        return Levels(self.depth_healthy, self.depth_degraded, self.depth_critical)

    @property
    def call_bounds(self) -> CallBounds:
        return CallBounds(
            self.calls_min, self.calls_start, self.calls_max, most_delay_ms=self.calls_delay_cap_ms
        )

    @property
    def reading_limits(self) -> dict[str, int]:
        """The bounds of every file that is read."""
        return {
            "rows": self.max_rows,
            "columns": self.max_columns,
            "cells": self.max_cells,
            "cell_bytes": self.max_cell_bytes,
            "file_bytes": self.max_file_bytes,
            "inflated_bytes": self.max_inflated_bytes,
            "nesting": self.max_nesting,
        }

    @property
    def first_password(self) -> str | None:
        """What was configured for the first admin, if anything was."""
        if self.admin_password is not None:
            return self.admin_password.get_secret_value()
        if self.admin_password_file is not None:
            return self.admin_password_file.read_text("utf-8").rstrip("\r\n")
        return None

    @property
    def blob_dir(self) -> Path:
        return self.data_dir / "blobs"

    @property
    def own_key_file(self) -> Path:
        return self.data_dir / "secret.key"

    @property
    def admin_password_note(self) -> Path:
        """Where the first admin's password is written where there is no terminal to show it."""
        return self.data_dir / "admin.password"

    @property
    def admin_key_file(self) -> Path:
        return self.data_dir / "admin.key"
