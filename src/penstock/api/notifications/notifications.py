"""Targets of notifications, their log, and e-mails about jobs."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from penstock.api.http.access import ApiParts, JobId, Reader, Writer, caller_of, id_in_path, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.cursors import cut_page, from_cursor
from penstock.api.http.schemas import OrgQuery
from penstock.api.notifications.schemas import (
    JobMails,
    JobWatch,
    LogQuery,
    NewTargetOrder,
    NotificationPage,
    TargetChangeOrder,
    TargetPage,
    TargetShape,
    TestReceipt,
    notification_shape,
    target_shape,
)
from penstock.app import notifications as targets
from penstock.app.job_control import no_such_job
from penstock.store.jobs import jobs
from penstock.store.monitor import notifications

router = APIRouter(tags=["notifications"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": TargetShape}}
_MAX_SHOWN = 200


TargetId = Annotated[
    UUID, Depends(id_in_path("notification_id", "The target's id.", targets.no_such_target))
]


@router.get(
    "/notifications", summary="List notification targets", responses={200: {"model": TargetPage}}
)
async def list_targets(api: ApiParts, who: Reader) -> Response:
    """Your org's, oldest first; for an admin, every org's and those of the installation."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await notifications.list_targets(conn, _MAX_SHOWN)
    return answer({"items": [target_shape(one) for one in found]})


@router.post(
    "/notifications",
    status_code=201,
    summary="Add a notification target",
    responses={201: {"model": TargetShape}},
    openapi_extra=body_of(NewTargetOrder),
)
async def create_target(
    request: Request, api: ApiParts, who: Writer, query: Annotated[OrgQuery, Query()]
) -> Response:
    """Messages go to a Slack or other webhook, to PagerDuty or by e-mail. A target of the
    installation gets alerts of the monitor; an org's target gets events of the jobs that you may
    see. URLs must lead to the public internet, or where the operator allows it."""
    order = await order_of(request, NewTargetOrder)
    checked = await targets.check_order(api.runtime, order.order())
    async with api.db.scoped(who.scope) as conn:
        org_id = await org_of(conn, who, query.org)
        made = await targets.create(api.runtime, conn, caller_of(request, who), checked, org_id)
    return answer(target_shape(made), 201, {"Location": f"/api/notifications/{made.id}"})


@router.get(
    "/notifications/log",
    summary="Sent notifications",
    responses={200: {"model": NotificationPage}},
)
async def notification_log(
    api: ApiParts, who: Reader, query: Annotated[LogQuery, Query()]
) -> Response:
    """Messages that were sent, wait or failed, the newest first. Failed ones are also dead
    letters."""
    after = None
    if query.after:
        [after] = from_cursor(query.after, "notifications", UUID)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        rows = await notifications.list_notifications(conn, after, query.page_size + 1)
    page, following = cut_page("notifications", rows, query.page_size)
    return answer({"items": [notification_shape(one) for one in page], "next": following})


@router.get("/notifications/me", summary="Your e-mails", responses={200: {"model": JobMails}})
async def show_job_mails(api: ApiParts, who: Reader) -> Response:
    """About which of your jobs you get an e-mail."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer({"jobs": await notifications.job_mails(conn, who.user_id)})


@router.put(
    "/notifications/me",
    summary="Change your e-mails",
    responses={200: {"model": JobMails}},
    openapi_extra=body_of(JobMails),
)
async def set_job_mails(request: Request, api: ApiParts, who: Writer) -> Response:
    """An e-mail to your address when one of your jobs ends, or fails."""
    order = await order_of(request, JobMails)
    async with api.db.scoped(who.scope) as conn:
        await targets.set_job_mails(api.runtime, conn, caller_of(request, who), order.jobs)
    return answer({"jobs": order.jobs})


@router.get("/notifications/{notification_id}", summary="Show a target", responses=_ONE)
async def show_target(api: ApiParts, who: Reader, notification_id: TargetId) -> Response:
    """What it gets, and until when it is silenced."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        return answer(target_shape(await targets.get_target(conn, notification_id)))


@router.patch(
    "/notifications/{notification_id}",
    summary="Change or silence a target",
    responses=_ONE,
    openapi_extra=body_of(TargetChangeOrder),
)
async def change_target(
    request: Request, api: ApiParts, who: Writer, notification_id: TargetId
) -> Response:
    """To change its address, delete it and add another."""
    order = await order_of(request, TargetChangeOrder)
    async with api.db.scoped(who.scope) as conn:
        changed = await targets.change(
            conn, caller_of(request, who), notification_id, order.change()
        )
    return answer(target_shape(changed))


@router.delete("/notifications/{notification_id}", status_code=204, summary="Delete a target")
async def delete_target(
    request: Request, api: ApiParts, who: Writer, notification_id: TargetId
) -> Response:
    """Nothing more is sent there; its address is deleted."""
    async with api.db.scoped(who.scope) as conn:
        await targets.delete(conn, caller_of(request, who), notification_id)
    return Response(status_code=204)


@router.post(
    "/notifications/{notification_id}/test",
    status_code=202,
    summary="Send a test message",
    responses={202: {"model": TestReceipt}},
)
async def test_target(
    request: Request, api: ApiParts, who: Writer, notification_id: TargetId
) -> Response:
    """The log shows the result."""
    async with api.db.scoped(who.scope) as conn:
        made = await targets.send_test(api.runtime, conn, caller_of(request, who), notification_id)
    return answer({"notificationId": str(made)}, 202)


@router.get("/jobs/{job_id}/watch", summary="Is it watched?", responses={200: {"model": JobWatch}})
async def show_watch(api: ApiParts, who: Reader, job_id: JobId) -> Response:
    """Whether you get an e-mail when this job ends."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        if await jobs.get_job(conn, job_id) is None:
            raise no_such_job()
        return answer({"watched": await notifications.is_watched(conn, job_id, who.user_id)})


@router.put(
    "/jobs/{job_id}/watch",
    summary="Watch a job",
    responses={200: {"model": JobWatch}},
    openapi_extra=body_of(JobWatch),
)
async def watch_job(request: Request, api: ApiParts, who: Writer, job_id: JobId) -> Response:
    """Whether you get an e-mail when this job ends."""
    order = await order_of(request, JobWatch)
    async with api.db.scoped(who.scope) as conn:
        if await jobs.get_job(conn, job_id) is None:
            raise no_such_job()
        caller = caller_of(request, who)
        await targets.watch_job(api.runtime, conn, caller, job_id, watched=order.watched)
    return answer({"watched": order.watched})
