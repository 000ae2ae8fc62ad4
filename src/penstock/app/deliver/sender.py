"""Write an export and send it to a watched place or a URL, as it is written."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit
from uuid import UUID

from penstock import __version__
from penstock.app.exports import ExportFilter, OpenConnection, export_pieces
from penstock.app.watchers.watchers import address_of
from penstock.engine.reprocess import require_rows
from penstock.engine.runtime import Runtime
from penstock.model.errors import BadInput, NotThere, PermanentError, Unavailable
from penstock.model.export import RowWriter
from penstock.model.exports.order import SHOP_FORMATS, ExportConfig, SentExport
from penstock.model.network.fetching import FetchLimits, FetchPurpose, FetchRequest
from penstock.model.network.webhooks import message_id, signature
from penstock.model.places.ports import PlaceLimits
from penstock.store.catalog.catalog import ProductFilter
from penstock.store.database import Connection, Scope
from penstock.store.jobs import jobs
from penstock.store.research.secrets import secret_of
from penstock.store.watchers import watchers

# A request holds its body in memory.
MOST_URL_BYTES = 64 * 1024 * 1024
_URL_MS = 60_000
_ANSWER_BYTES = 1000
CatalogPieces = Callable[
    [OpenConnection, ProductFilter, type[RowWriter]], AsyncGenerator[bytes, None]
]


@dataclass(frozen=True, slots=True)
class Writers:
    """How files are written: formats by extension, and the catalog as a file."""

    formats: Mapping[str, type[RowWriter]]
    catalog: CatalogPieces


class RuntimeExportSender:
    """Implements `model.exports.order.ExportSender`. It reads what the org may see."""

    def __init__(self, runtime: Runtime, writers: Writers) -> None:
        self._runtime = runtime
        self._writers = writers

    async def send(self, org_id: int, job_id: UUID, config: ExportConfig) -> SentExport:
        name = config.name_at(datetime.now(UTC))
        pieces = await self._pieces(org_id, config)
        async with aclosing(pieces):
            if config.to.watcher_id is not None:
                return await self._to_place(org_id, config.to.watcher_id, name, pieces)
            assert config.to.url is not None
            return await self._to_url(org_id, job_id, config, name, pieces)

    async def _pieces(self, org_id: int, config: ExportConfig) -> AsyncGenerator[bytes, None]:
        scope = Scope(org_id)

        def opened() -> AbstractAsyncContextManager[Connection]:
            return self._runtime.db.scoped(scope, readonly=True)

        kind = self._writers.formats[config.format]
        if config.what == "products":
            published = None if config.status is None else config.status == "published"
            wanted = ProductFilter(org_id, source=config.source, published=published)
            return self._writers.catalog(opened, wanted, kind)
        assert config.job_id is not None
        async with opened() as conn:
            job = await jobs.get_job(conn, config.job_id)
        if job is None:
            raise NotThere("RESOURCE_NOT_FOUND", "The job to export is gone.")
        if config.format in SHOP_FORMATS:
            wanted = ProductFilter(org_id, job_id=config.job_id)
            return self._writers.catalog(opened, wanted, kind)
        require_rows(job.pruned_at, "exported")
        return export_pieces(self._runtime, opened, job, ExportFilter(), kind)

    async def _to_place(
        self, org_id: int, watcher_id: UUID, name: str, pieces: AsyncIterator[bytes]
    ) -> SentExport:
        async with self._runtime.db.scoped(Scope(org_id)) as conn:
            row = await watchers.get_watcher(conn, watcher_id)
            if row is None:
                raise NotThere("RESOURCE_NOT_FOUND", "The watcher to export to was deleted.")
            credentials = await watchers.open_credentials(conn, self._runtime.sealer, watcher_id)
        limits = PlaceLimits(transfer_seconds=self._runtime.settings.watch_transfer_seconds)
        async with self._runtime.places.open(address_of(row, credentials), limits) as place:
            size = await place.put(name, pieces)
        return SentExport(name, size, row.address)

    async def _to_url(
        self, org_id: int, job_id: UUID, config: ExportConfig, name: str,
        pieces: AsyncIterator[bytes],
    ) -> SentExport:  # fmt: skip
        body = await _collect(pieces)
        async with self._runtime.db.transaction() as conn:
            key = await secret_of(conn, self._runtime.sealer, org_id)
        url, now, message = config.to.url or "", int(time.time()), message_id(job_id)
        headers = {
            "Content-Type": self._writers.formats[config.format].media_type,
            "Content-Disposition": f'attachment; filename="{_plain(name)}"',
            "User-Agent": f"Penstock-Exports/{__version__}",
            "webhook-id": message,
            "webhook-timestamp": str(now),
            "webhook-signature": signature([key], message, now, body),
        }
        limits = FetchLimits(most_bytes=_ANSWER_BYTES, total_ms=_URL_MS, hops=0, head_only=True)
        answer = await self._runtime.fetchers[FetchPurpose.WEBHOOK].fetch(
            FetchRequest(url, config.to.method, headers, body, limits)
        )
        host = urlsplit(url).hostname or ""
        if not 200 <= answer.status < 300:
            raise _refusal(host, answer.status, answer.retry_after_ms)
        return SentExport(name, len(body), host)


async def _collect(pieces: AsyncIterator[bytes]) -> bytes:
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > MOST_URL_BYTES:
            raise BadInput(
                "FILE_TOO_LARGE",
                f"The export has more than {MOST_URL_BYTES:,} bytes, too many for one request. Send"
                " it to a watched place instead.",
                limit=MOST_URL_BYTES,
            )
    return bytes(body)


def _refusal(host: str, status: int, retry_after_ms: int | None) -> PermanentError | Unavailable:
    message = f"{host} answered {status}."
    if status == 429 or status >= 500:
        return Unavailable("SERVICE_UNAVAILABLE", message, retry_after_ms=retry_after_ms)
    return PermanentError("URL_REFUSED", message, status=status)


def _plain(name: str) -> str:
    return "".join(one if " " <= one <= "~" and one not in '"\\' else "-" for one in name)
