"""What each route costs: the one place that bounds heavy work per caller, org and process.

A route that is not in `ROUTES` cannot be added to the application, so a new one has to choose.
A turn is taken when the caller is known and released when the last byte of the answer is sent. A
preview, once its file is here, and a stream of events exchange theirs for one of their own kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from starlette.requests import HTTPConnection

from penstock.guards.concurrency import ConcurrencyGate, Turn, Work
from penstock.guards.disk import DiskReserve
from penstock.settings import Settings
from penstock.store.accounts.accounts import Principal

# Answered without authentication; each has limits of its own.
OPEN = "open"
LIGHT, SEARCH, UPLOAD, CHANGE = "light", "search", "upload", "change"
PREVIEW, PICTURE, EXPORT, STREAM, KICKOFF = "preview", "picture", "export", "stream", "kickoff"

ROUTES: Mapping[str, str] = {
    route: work
    for work, routes in {
        OPEN: """
            GET / · GET /health · GET /health/live · GET /health/ready · GET /health/queue
            GET /docs · GET /docs/{name} · GET /openapi.json · POST /api/session
            POST /api/connections/{connection_id}/webhook · GET /feeds/{feed_file}
        """,
        LIGHT: """
            GET /api/jobs/{job_id} · GET /api/extraction/jobs/{job_id}
            OPTIONS /api/uploads · HEAD /api/uploads/{upload_id}
            GET /api/uploads/{upload_id} · DELETE /api/uploads/{upload_id}
            POST /api/jobs/{job_id}/pause · POST /api/jobs/{job_id}/resume
            POST /api/jobs/{job_id}/cancel · POST /api/jobs/{job_id}/priority
            POST /api/jobs/{job_id}/clone · PATCH /api/jobs/{job_id}/items/{item}
            GET /api/jobs/{job_id}/items/{item}/searches · GET /api/jobs/{job_id}/edits
            POST /api/jobs/{job_id}/items/{item}/choose
            GET /api/fields · GET /api/profiles · GET /api/profiles/{name}
            PUT /api/profiles/{name} · DELETE /api/profiles/{name}
            GET /api/saved-values · PUT /api/saved-values
            DELETE /api/saved-values · GET /api/export-templates
            PUT /api/export-templates/{name} · DELETE /api/export-templates/{name}
            GET /api/jobs/{job_id}/events · GET /api/events
            GET /api/products/{product_id} · GET /api/products/{product_id}/history
            GET /api/products/{product_id}/prices · PATCH /api/products/{product_id}
            GET /api/dead-letters/groups · GET /api/dead-letters/{letter_id}
            POST /api/dead-letters/{letter_id}/discard
            GET /api/bulk · GET /api/bulk/{operation_id} · POST /api/bulk/{operation_id}/abort
            GET /api/queues · POST /api/queues/{lane}/pause · POST /api/queues/{lane}/resume
            GET /api/connections · POST /api/connections · GET /api/connections/providers
            POST /api/connections/install · GET /api/connections/{connection_id}
            PATCH /api/connections/{connection_id} · DELETE /api/connections/{connection_id}
            POST /api/connections/{connection_id}/rotate
            GET /api/sources · POST /api/sources · GET /api/sources/{source_id}
            PUT /api/sources/{source_id} · DELETE /api/sources/{source_id}
            GET /api/sources/{source_id}/health
            GET /api/feeds · POST /api/feeds · GET /api/feeds/{feed_id}
            PUT /api/feeds/{feed_id} · DELETE /api/feeds/{feed_id}
            POST /api/feeds/{feed_id}/rotate
            GET /api/retention · PUT /api/retention · GET /api/retention/tables
            GET /api/schedules · POST /api/schedules · POST /api/schedules/next-runs
            GET /api/schedules/{schedule_id} · PUT /api/schedules/{schedule_id}
            DELETE /api/schedules/{schedule_id} · GET /api/schedules/{schedule_id}/runs
            POST /api/schedules/{schedule_id}/pause · POST /api/schedules/{schedule_id}/resume
            POST /api/schedules/{schedule_id}/run
            GET /api/watchers · POST /api/watchers · GET /api/watchers/{watcher_id}
            PATCH /api/watchers/{watcher_id} · DELETE /api/watchers/{watcher_id}
            POST /api/watchers/{watcher_id}/rotate
            POST /api/watchers/{watcher_id}/files/{watched_id}/retry
            GET /api/research/queries · PUT /api/research/queries/{query_name}
            DELETE /api/research/queries/{query_name}
            GET /api/research/quota · PUT /api/research/quota · POST /api/webhooks/request-secret
            GET /api/providers · POST /api/providers/{key}/reset
            GET /api/monitor/alerts · POST /api/monitor/alerts/{alert_id}/silence
            GET /api/notifications · POST /api/notifications · GET /api/notifications/log
            GET /api/notifications/me · PUT /api/notifications/me
            GET /api/notifications/{notification_id} · PATCH /api/notifications/{notification_id}
            DELETE /api/notifications/{notification_id}
            POST /api/notifications/{notification_id}/test
            GET /api/jobs/{job_id}/watch · PUT /api/jobs/{job_id}/watch
            GET /api/monitor · GET /api/monitor/history · GET /api/extraction/monitor
            GET /metrics · GET /metrics/worker
            POST /api/users/me/password · POST /api/users · GET /api/users
            GET /api/users/{user_id} · PATCH /api/users/{user_id}
            POST /api/users/{user_id}/password
            POST /api/keys · GET /api/keys · DELETE /api/keys/{key_id}
            GET /api/sessions · DELETE /api/sessions · DELETE /api/sessions/{session_id}
            GET /api/session · DELETE /api/session
            GET /api/org · PATCH /api/org · GET /api/orgs · POST /api/orgs · GET /api/audit
            GET /api/webhooks · POST /api/webhooks · GET /api/webhooks/{webhook_id}
            PATCH /api/webhooks/{webhook_id} · DELETE /api/webhooks/{webhook_id}
            POST /api/webhooks/{webhook_id}/rotate · POST /api/webhooks/{webhook_id}/test
            GET /api/webhooks/{webhook_id}/deliveries
            GET /api/webhooks/deliveries/{delivery_id}
            POST /api/webhooks/deliveries/{delivery_id}/redeliver
        """,
        SEARCH: """
            GET /api/connections/{connection_id}/products
            POST /api/connections/{connection_id}/test · POST /api/connections/demo
            POST /api/sources/demo
            POST /api/connections/install/complete · POST /api/sources/{source_id}/test
            POST /api/watchers/{watcher_id}/test · GET /api/watchers/{watcher_id}/files
            GET /api/runs · GET /api/runs/{run_id} · POST /api/runs/{run_id}/abort
            POST /api/runs/preview · GET /api/pages · GET /api/pages/{page_id}
            GET /api/pages/{page_id}/versions/{version}/raw · GET /api/files/{file_id}/content
            GET /api/postings · GET /api/postings/{posting_id}
            DELETE /api/pages/{page_id} · DELETE /api/postings/{posting_id}
            GET /api/jobs · GET /api/jobs/{job_id}/items · GET /api/pending · GET /api/products
            GET /api/jobs/{job_id}/columns · GET /api/jobs/{job_id}/column-values
            GET /api/dead-letters · GET /api/jobs/{job_id}/pending
            GET /api/jobs/{job_id}/timeline · GET /api/jobs/{job_id}/held
            GET /api/jobs/{job_id}/unread-values · GET /api/jobs/{job_id}/links
            GET /api/product-links · GET /api/products/filters
        """,
        UPLOAD: """
            POST /api/products/import · POST /api/runs · POST /api/research
            POST /api/jobs · POST /api/jobs/batch · POST /api/extraction/jobs · POST /api/files
            POST /api/uploads · PATCH /api/uploads/{upload_id} · POST /api/jobs/preview
        """,
        CHANGE: """
            POST /api/pending/retry · POST /api/jobs/{job_id}/reprocess
            POST /api/jobs/{job_id}/enrich · POST /api/jobs/{job_id}/proposals/accept
            POST /api/jobs/{job_id}/proposals/refuse
            POST /api/jobs/{job_id}/remap · POST /api/jobs/{job_id}/undo
            POST /api/jobs/{job_id}/items/fix · POST /api/jobs/{job_id}/edits/undo
            POST /api/dead-letters/{letter_id}/reprocess · POST /api/dead-letters/reprocess
            POST /api/dead-letters/discard
            POST /api/bulk · POST /api/products/import/retry-failed · POST /api/retention/prune
            POST /api/jobs/retry-failed
            POST /api/jobs/{job_id}/links · POST /api/product-links
            POST /api/products/{product_id}/edits/{edit_id}/undo
        """,
        PICTURE: "GET /api/products/{product_id}/images/{place}",
        EXPORT: """
            POST /api/feeds/{feed_id}/build
            POST /api/jobs/{job_id}/export · POST /api/products/export
            POST /api/postings/export
        """,
        STREAM: "WS /ws",
        KICKOFF: """
            POST /api/jobs/{job_id}/kickoff · POST /api/ingestion/scan
        """,
    }.items()
    for line in routes.strip().splitlines()
    for route in line.strip().split(" · ")
}


def work_kinds(settings: Settings) -> dict[str, Work]:
    """The bounds of each kind in this process. The API's pool has 20 sessions: no org can hold all
    of them."""
    previews, exports = settings.previews_at_once, settings.exports_at_once
    streams = settings.max_streams
    streams_per_org = min(settings.streams_per_org, streams - 1)
    kinds = (
        Work(LIGHT, 8, 10, 1000, waiting_per_org=500, wait_s=30),
        Work(SEARCH, 4, 6, 1000, waiting_per_org=200, wait_s=30),
        Work(UPLOAD, 16, 32, 256, waiting_per_org=500, wait_s=30),
        Work(CHANGE, 2, 3, 100, waiting_per_org=20, wait_s=20),
        # The wait counts towards the time a preview may take.
        Work(PREVIEW, 1, previews - 1, previews, 8, settings.preview_seconds),
        Work(PICTURE, 6, 6, 24, waiting_per_org=200, wait_s=30),
        Work(EXPORT, 1, exports - 1, exports, waiting_per_org=10, wait_s=60),
        Work(STREAM, min(settings.streams_per_key, streams_per_org), streams_per_org, streams),
        Work(KICKOFF, 1, 2, 6),
    )
    return {kind.name: kind for kind in kinds}


def name_of_route(methods: Iterable[str], path: str) -> str:
    """The name in `ROUTES`; a HEAD request has the name of GET."""
    names = sorted(set(methods))
    return f"{'GET' if 'GET' in names else names[0]} {path}"


class Turns:
    """The concurrency gate of this process, by the name of the work."""

    def __init__(self, settings: Settings) -> None:
        self.gate = ConcurrencyGate()
        self._kinds = work_kinds(settings)
        self._disk = DiskReserve(settings.data_dir, settings.disk_reserve_bytes)

    async def enter(self, work: str, who: Principal) -> Turn:
        if work == UPLOAD:
            self._disk.require()
        return await self.gate.enter(self._kinds[work], who.user_id, who.org_id)

    async def enter_stream(self, who: Principal) -> Turn:
        """Streams are counted per key or session: each of a user's programs may open its own."""
        caller = (who.key_id, who.session_id)
        return await self.gate.enter(self._kinds[STREAM], caller, who.org_id)

    async def exchange_for_stream(self, request: HTTPConnection, who: Principal) -> None:
        request.state.turn.release()
        request.state.turn = await self.enter_stream(who)

    async def exchange(self, request: HTTPConnection, work: str, who: Principal) -> None:
        """Give back the turn of this request and wait for one of another kind."""
        request.state.turn.release()
        request.state.turn = await self.enter(work, who)


def release_turn(state: Mapping[str, Any]) -> None:
    """Release the turn of this request."""
    turn: Turn | None = state.get("turn")
    if turn is not None:
        turn.release()
