"""Alerts and events reach their targets once: by HTTP and SMTP, as items with retries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.engine.receiving import all_due
from tests.fixtures import Bench, MakePrincipal
from tests.monitor.support import Mailbox, Receiver, mailbox, notify, outbox_of, receiving, sent
from tests.monitor.test_service import monitor_of

from penstock.app import notifications as targets
from penstock.app.notifications import TargetOrder
from penstock.engine import ending
from penstock.engine.runtime import Runtime
from penstock.engine.standing import StreamKind, open_streams
from penstock.model.errors import BadInput, NotAllowed, PenstockError, PermanentError
from penstock.model.network.notifications import PIPELINE
from penstock.settings import Settings
from penstock.store.accounts.accounts import Principal
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import Database
from penstock.store.monitor import alerts, notifications
from penstock.store.monitor.notifications import TargetChange
from penstock.wiring import open_runtime

KEY = "0123456789abcdef0123456789abcdef"


@pytest.fixture
async def box() -> AsyncIterator[Mailbox]:
    async with mailbox() as made:
        yield made


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


@pytest.fixture
def settings(settings: Settings, box: Mailbox, receiver: Receiver) -> Settings:
    changed = {
        "webhook_allow": "127.0.0.0/8", "webhook_timeout_ms": 4000, "smtp_url": box.url,
        "smtp_seconds": 4.0, "pagerduty_url": receiver.url, "public_url": "https://p.example/",
        "runbook_url": "https://docs.example/runbook", "monitor_workers": 0,
    }  # fmt: skip
    known = {name: getattr(settings, name) for name in settings.model_fields_set}
    return Settings(**(known | changed))


@pytest.fixture
async def admin(principal: MakePrincipal) -> Principal:
    return await principal("house", role="admin")


async def add(runtime: Runtime, who: Principal, kind: str, address: str, **more: Any) -> UUID:
    order = TargetOrder(kind, address, **({"installation": who.role == "admin"} | more))
    checked = await targets.check_order(runtime, order)
    async with runtime.db.transaction() as conn:
        made = await targets.create(runtime, conn, Caller(who, None), checked, who.org_id)
    return made.id


async def later(bench: Bench) -> UUID:
    """A job that fills the queue and that no worker takes."""
    due = datetime.now(UTC) + timedelta(hours=1)
    return await bench.submit("noop", {"items": 1}, due_at=due)


def bodies(receiver: Receiver) -> list[Any]:
    return [json.loads(one.body) for one in receiver.got]


async def test_an_alert_goes_where_its_severity_says_and_resolves(
    bench: Bench, db: Database, receiver: Receiver, box: Mailbox, admin: Principal
) -> None:
    await add(bench.runtime, admin, "slack", receiver.url)
    await add(bench.runtime, admin, "pagerduty", KEY)
    await add(bench.runtime, admin, "email", "ops@example.com")
    job = await later(bench)
    strict = monitor_of(bench.runtime, depth=0)
    for _ in range(3):
        await strict.run_once()
        await notify(bench.runtime, bench.work)
    # A warning: to Slack, once, however often it is seen.
    [slack] = bodies(receiver)
    assert "Warning: depth" in slack["text"]
    assert "https://penstock.example/monitor" in slack["text"]
    assert "https://docs.example/runbook#depth" in slack["text"]
    assert box.raw == []
    async with db.transaction() as conn:
        await ending.cancel(conn, job)
    for _ in range(2):
        await strict.run_once()
        await notify(bench.runtime, bench.work)
    assert len(bodies(receiver)) == 2
    assert "Resolved: depth" in bodies(receiver)[1]["text"]
    assert await sent(db) == [
        ("health.warning", "opened", "sent"), ("health.warning", "resolved", "sent"),
    ]  # fmt: skip


async def test_dead_letters_are_mailed_and_critical_problems_page(
    bench: Bench, db: Database, receiver: Receiver, box: Mailbox, admin: Principal
) -> None:
    await add(bench.runtime, admin, "pagerduty", KEY)
    await add(bench.runtime, admin, "email", "ops@example.com")
    await bench.submit("noop", {"items": 1})
    many = monitor_of(bench.runtime, depth=0, dead_letters=-1, workers=1)
    assert await many.run_once() == "unhealthy"
    await notify(bench.runtime, bench.work)
    [mail] = box.mails
    assert mail["Subject"] == "[Penstock] Warning: dead letters"
    assert "https://docs.example/runbook#dead-letters" in str(mail.get_payload())
    pages = {one["dedup_key"].rpartition("/")[2]: one for one in bodies(receiver)}
    assert set(pages) == {"workers", "status"}
    assert {one["event_action"] for one in pages.values()} == {"trigger"}
    assert pages["status"]["payload"]["severity"] == "critical"
    assert pages["status"]["routing_key"] == KEY
    await monitor_of(bench.runtime, depth=99).run_once()
    await notify(bench.runtime, bench.work)
    assert len(box.mails) == 2
    actions = [one["event_action"] for one in bodies(receiver)]
    assert sorted(actions) == ["resolve", "resolve", "trigger", "trigger"]


async def test_notices_for_one_target_are_grouped_and_limited(
    bench: Bench, db: Database, receiver: Receiver, admin: Principal
) -> None:
    await add(bench.runtime, admin, "webhook", receiver.url)
    job = await bench.submit("noop", {"items": 1})
    await monitor_of(bench.runtime, depth=0, workers=1).run_once()
    # Not yet: more may come.
    assert await notify(bench.runtime, bench.work, group_ms=60_000) == 0
    assert await notify(bench.runtime, bench.work) == 1
    [body] = bodies(receiver)
    assert {one["key"] for one in body["notifications"]} == {"depth", "workers"}
    # One message an hour: what resolves waits, and goes out later.
    await bench.work(job)
    await monitor_of(bench.runtime, depth=0).run_once()
    assert await notify(bench.runtime, bench.work, per_hour=1) == 0
    assert await notify(bench.runtime, bench.work) == 1
    assert {state for _, _, state in await sent(db)} == {"sent"}
    assert len(bodies(receiver)) == 2


async def test_what_is_silenced_is_logged_and_not_sent(
    bench: Bench, db: Database, receiver: Receiver, admin: Principal
) -> None:
    target = await add(bench.runtime, admin, "slack", receiver.url)
    await bench.submit("noop", {"items": 1})
    strict, lenient = monitor_of(bench.runtime, depth=0), monitor_of(bench.runtime, depth=9)
    await strict.run_once()
    async with db.transaction() as conn:
        [alert] = await alerts.list_alerts(conn, open_only=True, before=None, size=9)
        shown = await targets.silence_alert(conn, Caller(admin, None), alert.id, 60, "known")
        assert shown.silenced_until is not None
    await lenient.run_once()
    await strict.run_once()
    await notify(bench.runtime, bench.work)
    # The first notice was decided before; neither its end nor the next alert is sent.
    assert [(phase, state) for _, phase, state in await sent(db)] == [
        ("opened", "sent"), ("resolved", "dropped"), ("opened", "dropped"),
    ]  # fmt: skip
    async with db.transaction() as conn:
        await targets.silence_alert(conn, Caller(admin, None), alert.id, 0, "")
        change = TargetChange(silence_minutes=60)
        await targets.change(conn, Caller(admin, None), target, change)
    await lenient.run_once()
    await strict.run_once()
    await notify(bench.runtime, bench.work)
    assert len(receiver.got) == 1


async def test_two_leaders_send_one_notice(
    bench: Bench, db: Database, receiver: Receiver, admin: Principal, owner_dsn: str
) -> None:
    await add(bench.runtime, admin, "slack", receiver.url)
    job = await bench.submit("noop", {"items": 1})
    async with open_runtime(bench.runtime.settings, owner_dsn, name="other") as other:
        leaders = (bench.runtime, other)
        for depth in (0, 9, 0, 9):
            checks = [monitor_of(one, depth=depth).run_once() for one in leaders for _ in range(3)]
            await asyncio.gather(*checks, *(outbox_of(one).run_once() for one in leaders))
        await asyncio.gather(*(outbox_of(one).run_once() for one in leaders for _ in range(2)))
        await bench.work(job)
    phases = sorted((phase, state) for _, phase, state in await sent(db))
    assert phases == [("opened", "sent")] * 2 + [("resolved", "sent")] * 2
    told = " ".join(one["text"] for one in bodies(receiver))
    assert (told.count("Warning: depth"), told.count("Resolved: depth")) == (2, 2)


async def test_two_leaders_open_one_job_for_a_user(bench: Bench, admin: Principal) -> None:
    maker = (admin.org_id, admin.user_id)

    async def opened() -> UUID:
        async with bench.runtime.db.transaction() as conn:
            kind = StreamKind(PIPELINE, "Notifications")
            return (await open_streams(bench.runtime, conn, kind, [maker], 100))[maker]

    assert len(set(await asyncio.gather(*(opened() for _ in range(4))))) == 1


async def test_a_target_that_fails_is_retried_and_becomes_a_dead_letter(
    bench: Bench, db: Database, receiver: Receiver, admin: Principal
) -> None:
    target = await add(bench.runtime, admin, "slack", receiver.url)
    receiver.status = "500 No"
    async with db.transaction() as conn:
        await targets.send_test(bench.runtime, conn, Caller(admin, None), target)
    await notify(bench.runtime, bench.work)
    for _ in range(6):
        await all_due(bench.runtime)
        await bench.work()
    assert len(receiver.got) == 5
    async with db.acquire() as conn:
        row = await conn.fetchrow("SELECT state, tries, error FROM notifications")
        letter = await conn.fetchrow("SELECT pipeline, code, attempts FROM dead_letters")
    assert row is not None
    assert letter is not None
    assert (row["state"], row["tries"]) == ("failed", 5)
    assert (letter["pipeline"], letter["code"]) == ("notifications", "SERVICE_UNAVAILABLE")


async def test_users_get_mails_about_their_jobs(
    bench: Bench, db: Database, box: Mailbox, principal: MakePrincipal
) -> None:
    other = await principal(email="other@acme.example")
    mine = await principal(email="mine@acme.example")
    async with db.transaction() as conn:
        await targets.set_job_mails(bench.runtime, conn, Caller(mine, None), "all")
    first = await bench.submit("noop", {"items": 2, "failEvery": 2}, who=mine)
    second = await bench.submit("noop", {"items": 1}, who=other)
    async with db.transaction() as conn:
        await targets.watch_job(bench.runtime, conn, Caller(other, None), second, watched=True)
    await bench.submit("noop", {"items": 1}, who=other)
    await bench.work()
    await notify(bench.runtime, bench.work)
    await notify(bench.runtime, bench.work)
    links = {mail["To"]: str(mail.get_payload()).count("/jobs/") for mail in box.mails}
    assert links == {"mine@acme.example": 1, "other@acme.example": 1}
    assert len(box.mails) == 2
    texts = " ".join(str(mail.get_payload()) for mail in box.mails)
    assert str(first) in texts
    assert "1 rows done, 1 failed" in texts


async def test_an_org_hears_of_its_own_jobs_only(
    bench: Bench, receiver: Receiver, principal: MakePrincipal
) -> None:
    other = await principal("other")
    await add(
        bench.runtime, bench.who, "webhook", receiver.url, events=["job.completed", "job.failed"]
    )
    mine = await bench.submit("noop", {"items": 1})
    await bench.submit("noop", {"items": 1}, who=other)
    await bench.work()
    await notify(bench.runtime, bench.work)
    [body] = bodies(receiver)
    assert body["key"] == f"job:{mine}"
    with pytest.raises(NotAllowed):
        await add(bench.runtime, bench.who, "webhook", receiver.url, installation=True)


async def test_addresses_are_sealed_and_checked(
    bench: Bench, db: Database, receiver: Receiver, admin: Principal
) -> None:
    target = await add(bench.runtime, admin, "slack", receiver.url + "&secret=hush")
    async with db.acquire() as conn:
        row = await conn.fetchrow("SELECT * FROM notification_targets")
        shown = await notifications.get_target(conn, target)
        audited = await conn.fetchval("SELECT string_agg(after::text, ' ') FROM audit")
    assert row is not None
    assert shown is not None
    assert b"hush" not in bytes(row["address"])
    assert "hush" not in f"{row} {shown} {audited}"
    for kind, address in (
        ("slack", "http://169.254.169.254/latest"), ("webhook", "http://10.0.0.1/"),
        ("webhook", "ftp://example.com/"), ("pagerduty", "short"), ("email", "a@b, c@d"),
        ("email", "x@y\r\nBcc: z@w"),
    ):  # fmt: skip
        with pytest.raises(PenstockError):
            await add(bench.runtime, admin, kind, address)
    with pytest.raises(BadInput):
        await add(bench.runtime, admin, "slack", receiver.url, events=["job.nonsense"])


async def test_a_refused_mail_does_not_hold_up_other_targets(
    bench: Bench, db: Database, receiver: Receiver, box: Mailbox, admin: Principal
) -> None:
    mail = await add(bench.runtime, admin, "email", "ops@example.com")
    slack = await add(bench.runtime, admin, "slack", receiver.url)
    box.refuses = "550 no such user"
    async with db.transaction() as conn:
        for target in (mail, slack):
            await targets.send_test(bench.runtime, conn, Caller(admin, None), target)
    await notify(bench.runtime, bench.work)
    async with db.acquire() as conn:
        rows = await conn.fetch("SELECT state, error FROM notifications ORDER BY id")
    assert [row["state"] for row in rows] == ["failed", "sent"]
    assert "550 no such user" in rows[0]["error"]


async def test_one_org_with_many_targets_does_not_stop_another(
    bench: Bench, receiver: Receiver, admin: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(targets, "MOST_TARGETS", 2)
    for _ in range(2):
        await add(bench.runtime, bench.who, "webhook", receiver.url)
    with pytest.raises(PermanentError, match="An org has at most 2 notification targets"):
        await add(bench.runtime, bench.who, "webhook", receiver.url)
    assert await add(bench.runtime, admin, "webhook", receiver.url)
