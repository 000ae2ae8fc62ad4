"""Settings to everything, once. The only module that knows all rooms."""

from __future__ import annotations

import math
import os
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

from penstock.accounts.bootstrap import bootstrap
from penstock.accounts.first_admin import FirstAdmin, ensure_admin_can_sign_in
from penstock.api.catalog.product_files import catalog_pieces
from penstock.api.catalog.shop_writers import PRODUCT_FORMATS
from penstock.app.bulk_operations import BulkService
from penstock.app.deliver.sender import RuntimeExportSender, Writers
from penstock.app.retention.service import Retention
from penstock.app.schedules.service import Scheduler
from penstock.app.watchers.service import WatchService
from penstock.blobs.local import LocalBlobs
from penstock.blobs.s3 import BucketConfig, S3Blobs
from penstock.brokers import BROKERS
from penstock.engine.effects import EffectRegistry
from penstock.engine.failpoints import FAILPOINT, Failpoints
from penstock.engine.lane_limit import LaneLimit
from penstock.engine.queue_depth import QueueDepthCache
from penstock.engine.result_cache import CacheRetention, SharedRows
from penstock.engine.runtime import Runtime, ShopCalls
from penstock.engine.services.clock_watch import ClockWatch
from penstock.engine.services.queue_watch import QueueWatch
from penstock.engine.services.reconcile import Reconciler
from penstock.engine.services.retention import (
    AuditRetention,
    CallRetention,
    LetterRetention,
    PictureRetention,
    RobotsRetention,
)
from penstock.engine.services.sweep import Sweeper
from penstock.engine.services.tidy import Tidier
from penstock.engine.worker.figures import Figures
from penstock.guards import sandbox
from penstock.guards.call_limits import CallLimiter
from penstock.guards.children import ChildPool
from penstock.guards.connect import VettedConnector
from penstock.guards.fetch import Fetcher
from penstock.guards.sealing import Sealer, key_in_file
from penstock.guards.shared_limits import SharedGate
from penstock.guards.shop_calls import ShopCall, limit_key
from penstock.guards.smtp import SmtpMailer, SmtpServer
from penstock.logs import get_logger
from penstock.model.crawl.pages import CrawlSettings, PageIndex
from penstock.model.errors import BadInput
from penstock.model.exports.order import ExportSender
from penstock.model.lookup import CatalogSearch, Searches
from penstock.model.monitor.traces import NoTraces, Traces
from penstock.model.network.fetching import FetchPurpose
from penstock.model.network.provider_limits import LimitKey
from penstock.model.network.token_bucket import Rate
from penstock.model.pipeline import Pipeline
from penstock.model.places.ports import PlaceKind
from penstock.model.ports import (
    Blobs,
    Call,
    Connections,
    JobRows,
    Mailer,
    NotificationTargets,
    PictureIndex,
    Products,
    Profiles,
    Receivers,
    Service,
)
from penstock.model.shops.provider import ShopConnection
from penstock.model.sources.search import PROVIDER as SOURCE_PROVIDER
from penstock.model.sources.search import OpenedSource, ResearchRequests, Sources
from penstock.model.text.redaction import register_secret
from penstock.monitor.job_log import JobLog
from penstock.monitor.outbox import NotificationOutbox
from penstock.monitor.service import MetricRetention, Monitor
from penstock.pipelines.registry import PIPELINES, known_pipelines
from penstock.places.folder import FolderPlaces
from penstock.places.ftp import FTP_PORTS, FtpPlaces
from penstock.places.imap import IMAP_PORTS, ImapPlaces
from penstock.places.registry import AllPlaces
from penstock.places.s3 import S3Places
from penstock.places.sftp import SFTP_PORTS, SftpPlaces
from penstock.providers.configured.service import SourceTests
from penstock.providers.registry import PROVIDERS
from penstock.settings import MEBIBYTE, Settings
from penstock.store.catalog.pictures import StoredPictures
from penstock.store.catalog.ports import StoredJobRows, StoredProducts, StoredProfiles
from penstock.store.catalog.search import StoredCatalogSearch
from penstock.store.crawl.pages import StoredPages
from penstock.store.database import Database
from penstock.store.effects import WRITERS
from penstock.store.lookup.searches import StoredSearches
from penstock.store.migrate import migrate
from penstock.store.monitor.notifications import StoredTargets
from penstock.store.pooler import require_same_server, require_sessions
from penstock.store.providers.states import StoredLimits
from penstock.store.research.requests import StoredRequests
from penstock.store.shops.connections import StoredConnections
from penstock.store.slow_statements import SlowLog
from penstock.store.sources.sources import StoredSources
from penstock.store.webhooks import StoredReceivers
from penstock.supervisor.connect import connect_or_start
from penstock.webhooks.cleanup import WebhookKeeper
from penstock.webhooks.outbox import Outbox

_CHILD_CPU_SECONDS = 600
_PICTURE_SECONDS = 5
# Not empty once the log says what this machine lacks.
_told_of_sandbox: list[bool] = []


@dataclass(frozen=True)
class Addresses:
    """Where the database is: for the engine (owner) and for the API (its own role)."""

    owner_dsn: str
    api_dsn: str


@asynccontextmanager
async def database_addresses(settings: Settings) -> AsyncIterator[Addresses]:
    """The configured server, or the embedded one, started if it does not run yet."""
    if settings.database_url is not None:
        yield await configured_addresses(settings)
        return
    async with await connect_or_start(settings.data_dir) as running:
        _hide_password(running.owner_dsn)
        _hide_password(running.api_dsn)
        yield Addresses(running.owner_dsn, running.api_dsn)


async def configured_addresses(settings: Settings) -> Addresses:
    """The configured server's. A pooler that shares sessions is refused where it is not named."""
    assert settings.database_url is not None
    url = settings.database_url.get_secret_value()
    direct = url
    if settings.database_direct_url is not None:
        direct = settings.database_direct_url.get_secret_value()
    for dsn in (url, direct):
        _hide_password(dsn)
    if settings.database_pooler == "transaction":
        await require_sessions(direct, "PENSTOCK_DATABASE_DIRECT_URL")
        await require_same_server(url, direct)
    else:
        await require_sessions(url, "PENSTOCK_DATABASE_URL")
    return Addresses(direct, url)


@dataclass(frozen=True)
class Prepared:
    """What was applied, and what is new and shown only now."""

    applied: list[str]
    admin_key: str | None = None
    admin: FirstAdmin | None = None


async def prepare(settings: Settings, owner_dsn: str, *, shown: bool = False) -> Prepared:
    """Migrate, and make sure there is an admin. ``shown``: the new password of the first
    one will be printed."""
    db = await Database(owner_dsn, settings.database_schema, name="penstock migrate", size=2).open()
    try:
        async with db.acquire() as conn:
            tables = effect_registry(PIPELINES).tables()
            applied = await migrate(conn, settings.database_schema, tables)
            key = await bootstrap(conn, settings.admin_key_file)
            admin = await ensure_admin_can_sign_in(conn, settings, shown=shown)
            return Prepared(applied, key, admin)
    finally:
        await db.close()


@asynccontextmanager
async def open_runtime(
    settings: Settings,
    owner_dsn: str,
    *,
    name: str,
    listens: bool = True,
    pipelines: Mapping[str, Pipeline] | None = None,
) -> AsyncIterator[Runtime]:
    """All the engine needs, opened and closed in order."""
    log = get_logger()
    db = await _engine_database(settings, owner_dsn, name).open()
    # A stream keeps its child for as long as it lasts: one for every slot that may ingest.
    pools = _child_pools(settings)
    fetchers = {purpose: Fetcher(settings.fetch_exempt(purpose)) for purpose in FetchPurpose}
    known = pipelines or known_pipelines(with_test_pipelines=settings.test_pipelines)
    sealer = sealer_of(settings)
    broker = BROKERS[settings.broker](owner_dsn, settings.database_schema, log, listens)
    traces, figures, calls = _measured_calls(settings, db)
    try:
        await broker.start()
        made = Runtime(
            settings=settings,
            db=db,
            pipelines=known,
            effects=effect_registry(known.values()),
            providers={one.key: one for one in PROVIDERS},
            ports=_ports(settings, db, sealer),
            blobs=_blobs(settings),
            children=pools.work,
            preview_children=pools.previews,
            picture_children=pools.pictures,
            broker=broker,
            calls=calls,
            shop_calls=_shop_calls(calls, fetchers[FetchPurpose.PROVIDER]),
            source_search=_source_search(calls, fetchers[FetchPurpose.PROVIDER], pools.previews),
            fetchers=fetchers,
            sealer=sealer,
            log=log,
            places=_places(settings, fetchers[FetchPurpose.PLACE]),
            services=background_services,
            failpoints=_failpoints(settings),
            queue=QueueDepthCache(settings.depth_levels),
            lane_limit=_lane_limit(settings),
            figures=figures,
        )
        yield with_exports(replace(made, traces=traces))
    finally:
        await _close(broker, calls, *fetchers.values(), pools, db, traces)


def with_exports(runtime: Runtime) -> Runtime:
    """The runtime with a sender of exports, which needs most of it."""
    sender = RuntimeExportSender(runtime, Writers(PRODUCT_FORMATS, catalog_pieces))
    return replace(runtime, ports={**runtime.ports, ExportSender: sender})


async def _close(*opened: Any) -> None:
    for one in opened:
        await one.close()


def _lane_limit(settings: Settings) -> LaneLimit:
    return LaneLimit(None if settings.lane_limit is None else Rate.parse(settings.lane_limit))


def _measured_calls(settings: Settings, db: Database) -> tuple[Traces, Figures, CallLimiter]:
    traces = _traces(settings)
    figures = Figures(settings.worker_memory_mb * MEBIBYTE, histograms=settings.histograms)
    gate = SharedGate(StoredLimits(db, settings.provider_limits), get_logger())
    record = figures if isinstance(traces, NoTraces) else _CallRecord(figures, traces)
    return traces, figures, CallLimiter(settings.call_bounds, gate, record)


class _CallRecord:
    """Counts calls to providers, and traces them."""

    def __init__(self, figures: Figures, traces: Traces) -> None:
        self._figures = figures
        self._traces = traces

    def called(self, provider: str, seconds: float, *, throttled: bool) -> None:
        self._figures.called(provider, seconds, throttled=throttled)
        self._traces.call(provider, seconds, throttled)


def _traces(settings: Settings) -> Traces:
    if settings.otel_endpoint is None:
        return NoTraces()
    try:
        from penstock.guards.open_telemetry import traces_to

        return traces_to(settings.otel_endpoint)
    except ImportError as error:
        raise BadInput(
            "INVALID_CONFIG",
            "PENSTOCK_OTEL_ENDPOINT needs the extra `otel`: pip install 'penstock[otel]'.",
        ) from error


def _shop_calls(calls: CallLimiter, fetcher: Fetcher) -> ShopCalls:
    """Calls of use cases, which share the limits of each shop with the workers."""

    def make(connection: ShopConnection, seconds: float) -> ShopCall:
        until = time.monotonic() + seconds

        def enter(points: float) -> AbstractAsyncContextManager[Call]:
            return calls.call(
                connection.provider, connection.domain, until=until, time_is_up=lambda: False,
                key=limit_key(connection), points=points,
            )  # fmt: skip

        return ShopCall(connection, fetcher, enter)

    return make


def _source_search(calls: CallLimiter, fetcher: Fetcher, children: ChildPool) -> SourceTests:
    """Tests of sources, which share the limits of each source with the workers."""

    def enter(source: OpenedSource, seconds: float) -> AbstractAsyncContextManager[Call]:
        key = LimitKey(source.org_id, SOURCE_PROVIDER, "", source.name, source.rate)
        return calls.call(
            SOURCE_PROVIDER, source.name, until=time.monotonic() + seconds,
            time_is_up=lambda: False, key=key,
        )  # fmt: skip

    return SourceTests(fetcher, children, enter)


def _blobs(settings: Settings) -> Blobs:
    if settings.blobs_url is None:
        return LocalBlobs(settings.blob_dir)
    secret = settings.blobs_secret_access_key
    key = None if secret is None else secret.get_secret_value()
    register_secret(key or "")
    return S3Blobs(
        BucketConfig(settings.blobs_url, settings.blobs_access_key_id, key), settings.blob_dir
    )


def _places(settings: Settings, fetcher: Fetcher) -> AllPlaces:
    exempt = settings.fetch_exempt(FetchPurpose.PLACE)
    return AllPlaces(
        {
            PlaceKind.FOLDER: FolderPlaces(settings.watch_roots),
            PlaceKind.S3: S3Places(fetcher),
            PlaceKind.FTP: FtpPlaces(VettedConnector(exempt, FTP_PORTS)),
            PlaceKind.IMAP: ImapPlaces(VettedConnector(exempt, IMAP_PORTS)),
            PlaceKind.SFTP: SftpPlaces(VettedConnector(exempt, SFTP_PORTS)),
        }
    )


def _failpoints(settings: Settings) -> Failpoints:
    """Failpoints kill the process, so that an installation for work has none."""
    spec = os.environ.get(FAILPOINT, "")
    if spec and not settings.test_pipelines:
        get_logger().warning(f"{FAILPOINT} is ignored without PENSTOCK_TEST_PIPELINES")
        spec = ""
    return Failpoints(spec)


def _ports(settings: Settings, db: Database, sealer: Sealer) -> dict[type, Any]:
    """What stages may read, by the kind of port."""
    return {
        Products: StoredProducts(db),
        JobRows: StoredJobRows(db),
        Profiles: StoredProfiles(db),
        Receivers: StoredReceivers(db, sealer),
        NotificationTargets: StoredTargets(db, sealer, settings.pagerduty_url),
        Mailer: _mailer(settings),
        PictureIndex: StoredPictures(db),
        Connections: StoredConnections(db, sealer),
        CatalogSearch: StoredCatalogSearch(db),
        Searches: StoredSearches(db),
        Sources: StoredSources(db, sealer),
        PageIndex: StoredPages(db),
        CrawlSettings: settings.crawl_settings,
        ResearchRequests: StoredRequests(db),
    }


def _mailer(settings: Settings) -> SmtpMailer:
    if settings.smtp_url is None:
        return SmtpMailer(None)
    server = SmtpServer.parse(settings.smtp_url.get_secret_value())
    register_secret(server.password)
    return SmtpMailer(server, settings.smtp_seconds)


def effect_registry(pipelines: Iterable[Pipeline]) -> EffectRegistry:
    """Our writers of effects, and those that pipelines of other packages bring along."""
    return EffectRegistry([*WRITERS, *(writer for one in pipelines for writer in one.effects)])


def background_services(runtime: Runtime) -> Sequence[Service]:
    """Everything the leader runs."""
    return [
        ClockWatch(runtime),
        Sweeper(runtime),
        Reconciler(runtime),
        Tidier(runtime),
        QueueWatch(runtime),
        LetterRetention(runtime),
        AuditRetention(runtime),
        CallRetention(runtime),
        RobotsRetention(runtime),
        PictureRetention(runtime),
        BulkService(runtime),
        Scheduler(runtime),
        Retention(runtime),
        CacheRetention(runtime),
        SharedRows(runtime),
        Outbox(runtime),
        WebhookKeeper(runtime),
        Monitor(runtime),
        NotificationOutbox(runtime),
        JobLog(runtime),
        MetricRetention(runtime),
        WatchService(runtime),
    ]


def _child_pools(settings: Settings) -> _ChildPools:
    lacking = sandbox.missing()
    if lacking and not _told_of_sandbox:
        _told_of_sandbox.append(True)
        get_logger().warning("child processes are less protected", **lacking)
    # On the disk of the blobs, so that a file is linked and not copied.
    pool = partial(
        ChildPool,
        settings.child_memory_bytes,
        folder=settings.data_dir / "children",
        hidden=(settings.data_dir,),
    )
    return _ChildPools(
        work=pool(_CHILD_CPU_SECONDS, streams=settings.worker_slots, calls=2),
        previews=pool(
            math.ceil(settings.preview_seconds / 2),
            calls=settings.previews_at_once,
            wall_seconds=settings.preview_seconds,
        ),
        pictures=pool(_PICTURE_SECONDS, calls=2, wall_seconds=_PICTURE_SECONDS),
    )


@dataclass(frozen=True)
class _ChildPools:
    """Children start when they are first needed: a worker never starts one for pictures."""

    work: ChildPool
    previews: ChildPool
    pictures: ChildPool

    async def close(self) -> None:
        for pool in (self.work, self.previews, self.pictures):
            await pool.close()


def _hide_password(dsn: str) -> None:
    """Should it ever stand in a log or an error, it is cut out of it."""
    password = urlsplit(dsn).password
    for spelling in (password or "", unquote(password or "")):
        register_secret(spelling)


def sealer_of(settings: Settings) -> Sealer:
    """By the key that is set, or by the one in the data folder. An installation of one machine
    makes that one itself; where several share a database, each would make another."""

    def find() -> str | None:
        keys = configured()
        for key in (keys or "").split(","):
            register_secret(key.strip())
        return keys

    def configured() -> str | None:
        if settings.secret_key is not None:
            return settings.secret_key.get_secret_value()
        if settings.secret_key_file is not None:
            return key_in_file(settings.secret_key_file, make=False)
        return key_in_file(settings.own_key_file, make=settings.database_url is None)

    return Sealer(find)


def _engine_database(settings: Settings, owner_dsn: str, name: str) -> Database:
    """The engine's pool: as the owner of the tables, with one plan for each statement."""
    return Database(
        owner_dsn, settings.database_schema, name=f"penstock {name}",
        size=settings.worker_slots + 3, plans_once=True,
    )  # fmt: skip


def api_database(settings: Settings, api_dsn: str, size: int = 20) -> Database:
    """The API's pool: its role sees nothing without an org."""
    return Database(
        api_dsn, settings.database_schema, role="penstock_api", name="penstock api", size=size,
        on_statement=SlowLog(get_logger(), settings.slow_statement_ms),
        pooled=settings.database_pooler == "transaction",
    )  # fmt: skip
