"""Alerts of the monitor; admins only."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from penstock.api.http.access import Admin, ApiParts, caller_of, id_in_path
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.notifications.schemas import (
    AlertPage,
    AlertShape,
    AlertsQuery,
    SilenceOrder,
    alert_shape,
)
from penstock.app import notifications as targets
from penstock.model.monitor.checks import RUNBOOK_PATH
from penstock.store.monitor import alerts

router = APIRouter(prefix="/monitor/alerts", tags=["operations"])


AlertId = Annotated[UUID, Depends(id_in_path("alert_id", "The alert's id.", targets.no_such_alert))]


@router.get("", summary="Alerts", responses={200: {"model": AlertPage}})
async def list_alerts(
    api: ApiParts, who: Admin, query: Annotated[AlertsQuery, Query()]
) -> Response:
    """Problems that the monitor found, open and resolved."""
    before = None
    if query.after:
        at, alert_id = from_cursor(query.after, "alerts", datetime, UUID)
        before = (at, alert_id)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await alerts.list_alerts(
            conn, open_only=query.state == "open", before=before, size=query.page_size + 1
        )
    page = found[: query.page_size]
    following = None
    if len(found) > len(page):
        following = to_cursor("alerts", page[-1].opened_at.isoformat(), str(page[-1].id))
    runbook = api.runtime.settings.runbook_url or RUNBOOK_PATH
    return answer({"items": [alert_shape(one, runbook) for one in page], "next": following})


@router.post(
    "/{alert_id}/silence",
    summary="Silence an alert",
    responses={200: {"model": AlertShape}},
    openapi_extra=body_of(SilenceOrder),
)
async def silence_alert(request: Request, api: ApiParts, who: Admin, alert_id: AlertId) -> Response:
    """Nothing is sent about its check for so many minutes, also if it opens again. 0 ends it."""
    order = await order_of(request, SilenceOrder)
    async with api.db.scoped(who.scope) as conn:
        found = await targets.silence_alert(
            conn, caller_of(request, who), alert_id, order.minutes, order.reason
        )
    return answer(alert_shape(found, api.runtime.settings.runbook_url or RUNBOOK_PATH))
