"""From an event to a signed request: exactly once made, tried as promised, and told of."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from standardwebhooks import Webhook, WebhookVerificationError
from tests.engine.receiving import (
    Receiver,
    all_due,
    deliveries,
    past_all,
    receiving,
    streams,
    subscribe,
    tell,
)
from tests.fixtures import Bench, MakePrincipal

from penstock.app import dead_letters
from penstock.engine import ending
from penstock.engine.runtime import Runtime
from penstock.guards.sealing import Sealer, new_key
from penstock.model.errors import BadInput, PermanentError
from penstock.model.ports import Receivers
from penstock.model.ports import Sealer as SealerPort
from penstock.settings import Settings
from penstock.store import webhooks as store
from penstock.store.accounts.audit_log import Caller
from penstock.store.database import from_json
from penstock.store.webhooks import StoredReceivers
from penstock.webhooks import endpoints
from penstock.webhooks.cleanup import WebhookKeeper
from penstock.webhooks.endpoints import EndpointSettings
from penstock.webhooks.outbox import Outbox, OutboxConfig

pytestmark = pytest.mark.slow


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"webhook_allow": "127.0.0.0/8", "webhook_timeout_ms": 5000})


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


async def run_job(bench: Bench, items: int = 1) -> UUID:
    job_id = await bench.submit("noop", {"items": items})
    await bench.work()
    return job_id


async def deliver(bench: Bench) -> None:
    await tell(bench.runtime)
    await bench.work()


async def letters(runtime: Runtime) -> list[dict[str, object]]:
    async with runtime.db.acquire() as conn:
        rows = await conn.fetch("SELECT * FROM dead_letters ORDER BY id")
    return [dict(row) for row in rows]


async def test_an_event_arrives_signed(bench: Bench, receiver: Receiver) -> None:
    made = await subscribe(bench.runtime, bench.who, receiver.url)
    job_id = await run_job(bench)
    await deliver(bench)
    [got] = receiver.got
    told = got.verified(made.secret)
    assert (told["type"], told["event"], told["jobId"]) == ("job.completed",) * 2 + (str(job_id),)
    assert set(told) == {"type", "event", "timestamp", "jobId", "workerId", "seq", "data"}
    assert got.headers["content-type"] == "application/json"
    [delivery] = await deliveries(bench.runtime, made.id)
    assert (delivery["state"], delivery["status"], delivery["tries"]) == ("delivered", 204, 1)
    [tried] = from_json(delivery["attempts"])
    assert tried["status"] == 204
    assert tried["ms"] >= 0
    # Nothing is made twice, and deliveries are told of by nobody.
    assert await tell(bench.runtime) == 0
    await deliver(bench)
    assert len(receiver.got) == 1


async def test_forged_or_old_requests_are_refused(bench: Bench, receiver: Receiver) -> None:
    made = await subscribe(bench.runtime, bench.who, receiver.url)
    await run_job(bench)
    await deliver(bench)
    [got] = receiver.got
    got.verified(made.secret)
    for place in (0, len(got.body) // 2, len(got.body) - 1):
        flipped = bytearray(got.body)
        flipped[place] ^= 1
        with pytest.raises(WebhookVerificationError):
            Webhook(made.secret).verify(bytes(flipped), got.headers)
    old = datetime.now(UTC) - timedelta(minutes=6)
    late = Webhook(made.secret).sign(got.id, old, got.body.decode())
    headers = got.headers | {
        "webhook-timestamp": str(int(old.timestamp())),
        "webhook-signature": late,
    }
    with pytest.raises(WebhookVerificationError):
        Webhook(made.secret).verify(got.body, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(made.secret).verify(got.body, got.headers | {"webhook-id": "msg_other"})


async def test_after_a_rotation_both_secrets_sign(bench: Bench, receiver: Receiver) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    async with runtime.db.transaction() as conn:
        fresh = await endpoints.rotate(runtime, conn, Caller(bench.who), made.id, overlap_hours=1)
    await run_job(bench)
    await deliver(bench)
    receiver.got[0].verified(made.secret)
    receiver.got[0].verified(fresh.secret)
    async with runtime.db.transaction() as conn:
        last = await endpoints.rotate(runtime, conn, Caller(bench.who), made.id, overlap_hours=0)
    await run_job(bench)
    await deliver(bench)
    receiver.got[1].verified(last.secret)
    with pytest.raises(WebhookVerificationError):
        receiver.got[1].verified(fresh.secret)


async def test_filters(bench: Bench, receiver: Receiver) -> None:
    wanted = {
        "named": ["job.started", "job.completed"],
        "family": ["job.*"],
        "all": ["*"],
        "chatty": ["job.progress"],
        "never": ["job.failed"],
    }
    made = {
        name: await subscribe(bench.runtime, bench.who, receiver.url, *events)
        for name, events in wanted.items()
    }
    await run_job(bench)
    await tell(bench.runtime)
    got = {
        name: {row["event"] for row in await deliveries(bench.runtime, one.id)}
        for name, one in made.items()
    }
    assert got["named"] == {"job.started", "job.completed"}
    assert got["family"] == got["all"] == {"job.queued", "job.started", "job.completed"}
    assert got["chatty"] == {"job.progress"}
    assert got["never"] == set()
    with pytest.raises(BadInput, match="there is no event"):
        await subscribe(bench.runtime, bench.who, receiver.url, "job.nonsense")


async def test_what_came_before_is_not_told(bench: Bench, receiver: Receiver) -> None:
    await run_job(bench)
    await subscribe(bench.runtime, bench.who, receiver.url, "*")
    assert await tell(bench.runtime) == 0


async def test_nobody_hears_of_jobs_they_may_not_see(
    bench: Bench, receiver: Receiver, principal: MakePrincipal
) -> None:
    runtime = bench.runtime
    colleague = await principal("acme", email="colleague@acme")
    other = await principal("other")
    chief = await principal("acme", role="admin")
    made = {
        who.email: await subscribe(runtime, who, receiver.url)
        for who in (bench.who, colleague, other, chief)
    }
    job_id = await run_job(bench)
    await tell(runtime)

    async def heard() -> dict[str, int]:
        return {email: len(await deliveries(runtime, one.id)) for email, one in made.items()}

    assert await heard() == {"member@acme": 1, "colleague@acme": 0, "member@other": 0,
                             "admin@acme": 1}  # fmt: skip
    async with runtime.db.acquire() as conn:
        await conn.execute("UPDATE orgs SET shared_jobs = true WHERE name = 'acme'")
        await conn.execute("UPDATE users SET disabled_at = now() WHERE email = 'admin@acme'")
    await run_job(bench)
    await tell(runtime)
    assert await heard() == {"member@acme": 2, "colleague@acme": 1, "member@other": 0,
                             "admin@acme": 1}  # fmt: skip
    owners = {row["user_id"] for row in await streams(runtime)}
    assert owners == {bench.who.user_id, colleague.user_id, chief.user_id}
    assert job_id not in {row["id"] for row in await streams(runtime)}


async def test_a_receiver_that_is_down_for_the_whole_span(bench: Bench, receiver: Receiver) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    receiver.status, receiver.body = "503 Service Unavailable", b"down for maintenance"
    await run_job(bench)
    await deliver(bench)
    waits = []
    for _ in range(10):
        waits += (due := await all_due(runtime))
        if not due:
            break
        await bench.work()
    for wait, base in zip(waits, (5, 25, 125, 625), strict=True):
        assert base <= wait <= base * 1.21
    assert len(receiver.got) == 5
    assert len({got.id for got in receiver.got}) == 1
    for got in receiver.got:
        got.verified(made.secret)
    [delivery] = await deliveries(runtime, made.id)
    assert (delivery["state"], delivery["tries"], delivery["status"]) == ("failed", 5, 503)
    tries = from_json(delivery["attempts"])
    assert {one["response"] for one in tries} == {"down for maintenance"}
    assert {one["error"]["code"] for one in tries} == {"SERVICE_UNAVAILABLE"}
    [letter] = await letters(runtime)
    assert (letter["code"], letter["row_no"], letter["attempts"], letter["pipeline"]) == (
        "SERVICE_UNAVAILABLE", delivery["row_no"], 5, "webhooks",
    )  # fmt: skip
    [stream] = await streams(runtime)
    assert (stream["state"], stream["error"]) == ("running", 1)


@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "400 Bad Request",
                                    "404 Not Found", "500 Internal Server Error"])  # fmt: skip
async def test_everything_but_2xx_is_tried_again(
    bench: Bench, receiver: Receiver, status: str
) -> None:
    made = await subscribe(bench.runtime, bench.who, receiver.url)
    receiver.headers = f"Location: {receiver.url}\r\n"
    receiver.plan = [status]
    await run_job(bench)
    await deliver(bench)
    assert len(receiver.got) == 1
    await all_due(bench.runtime)
    await bench.work()
    [delivery] = await deliveries(bench.runtime, made.id)
    assert (delivery["state"], delivery["tries"]) == ("delivered", 2)
    assert receiver.got[0].id == receiver.got[1].id
    assert await letters(bench.runtime) == []


async def test_retry_after_is_heeded(bench: Bench, receiver: Receiver) -> None:
    await subscribe(bench.runtime, bench.who, receiver.url)
    receiver.plan, receiver.headers = ["429 Too Many Requests"], "Retry-After: 77\r\n"
    await run_job(bench)
    await deliver(bench)
    [wait] = await all_due(bench.runtime)
    assert 76.5 <= wait <= 78


async def test_410_disables(bench: Bench, receiver: Receiver) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    receiver.plan = ["500 Internal Server Error", "410 Gone"]
    await run_job(bench)
    await deliver(bench)
    await run_job(bench)
    await deliver(bench)
    async with runtime.db.acquire() as conn:
        endpoint = await endpoints.get_endpoint(conn, made.id)
    assert (endpoint.enabled, endpoint.disabled_reason) == (
        False,
        "The receiver answered 410 Gone",
    )
    # What was still to be tried again is not sent there any more, and is lost to nobody.
    await all_due(runtime)
    await bench.work()
    assert len(receiver.got) == 2
    assert {row["state"] for row in await deliveries(runtime, made.id)} == {"failed"}
    codes = {str(letter["code"]) for letter in await letters(runtime)}
    assert codes == {"ENDPOINT_DISABLED", "WEBHOOK_REJECTED"}
    # Events that come now are for nobody.
    await run_job(bench)
    assert await tell(runtime) == 0


async def test_410_of_an_old_url_leaves_the_new_one_alone(bench: Bench, receiver: Receiver) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    receiver.plan = ["410 Gone"]
    receiver.lets_go.clear()
    await run_job(bench)
    await tell(runtime)
    async with bench.worker() as worker:
        turn = asyncio.create_task(worker.run_once())
        while not receiver.got:
            await asyncio.sleep(0.01)
        moved = EndpointSettings(url=receiver.url + "&moved=1")
        await endpoints.change(runtime, runtime.db.transaction, Caller(bench.who), made.id, moved)
        receiver.lets_go.set()
        await turn
    async with runtime.db.acquire() as conn:
        assert (await endpoints.get_endpoint(conn, made.id)).enabled


async def test_a_deleted_endpoint_drops_what_was_on_its_way(
    bench: Bench, receiver: Receiver
) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    await run_job(bench)
    await tell(runtime)
    async with runtime.db.transaction() as conn:
        assert await store.delete_endpoint(conn, made.id)
    await bench.work()
    assert receiver.got == []
    [delivery] = await deliveries(runtime, made.id)
    assert (delivery["state"], delivery["tries"]) == ("dropped", 0)
    assert await letters(runtime) == []


async def test_a_url_that_turns_private_is_not_reached(bench: Bench, receiver: Receiver) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    async with runtime.db.transaction() as conn:
        # As if a name that was public once had been pointed elsewhere.
        await conn.execute("UPDATE webhook_endpoints SET url = 'http://169.254.169.254/latest'")
    await run_job(bench)
    await deliver(bench)
    [delivery] = await deliveries(runtime, made.id)
    assert delivery["state"] == "failed"
    assert [letter["code"] for letter in await letters(runtime)] == ["URL_NOT_ALLOWED"]
    with pytest.raises(BadInput, match="not on the public internet"):
        await subscribe(runtime, bench.who, "http://10.0.0.1/hook")


async def test_redeliver_sends_the_same_id(bench: Bench, receiver: Receiver) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    receiver.status = "410 Gone"
    await run_job(bench)
    await deliver(bench)
    receiver.status = "200 OK"
    [row] = await deliveries(runtime, made.id)

    async def again() -> None:
        async with runtime.db.transaction() as conn:
            await endpoints.redeliver(runtime, conn, Caller(bench.who), row["id"])

    with pytest.raises(PermanentError, match="disabled"):
        await again()
    enabled = EndpointSettings(enabled=True)
    await endpoints.change(runtime, runtime.db.transaction, Caller(bench.who), made.id, enabled)
    await again()
    assert [letter["state"] for letter in await letters(runtime)] == ["reprocessed"]
    with pytest.raises(PermanentError, match="on its way"):
        await again()
    await bench.work()
    assert len(receiver.got) == 2
    assert receiver.got[0].id == receiver.got[1].id
    [delivery] = await deliveries(runtime, made.id)
    assert (delivery["state"], delivery["tries"]) == ("delivered", 2)
    # One that went well can be sent again, too.
    await again()
    await bench.work()
    assert len(receiver.got) == 3


async def test_a_letter_of_a_delivery_is_run_again_as_that_delivery(
    bench: Bench, receiver: Receiver
) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    receiver.plan = ["503 Service Unavailable"] * 5
    await run_job(bench)
    await deliver(bench)
    while await all_due(runtime):
        await bench.work()
    [letter] = await letters(runtime)
    asked = Caller(bench.who)
    async with runtime.db.transaction() as conn:
        receipt = await dead_letters.reprocess(runtime, conn, asked, UUID(str(letter["id"])))
    assert receipt.job_id == letter["job_id"]
    await bench.work()
    [delivery] = await deliveries(runtime, made.id)
    assert (delivery["state"], delivery["tries"]) == ("delivered", 6)
    assert len({got.id for got in receiver.got}) == 1
    [closed] = await letters(runtime)
    assert (closed["state"], closed["new_job_id"]) == ("reprocessed", letter["job_id"])
    assert len(await streams(runtime)) == 1


async def test_a_test_goes_the_way_of_all_deliveries(bench: Bench, receiver: Receiver) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    async with runtime.db.transaction() as conn:
        delivery_id = await endpoints.send_test(conn, Caller(bench.who), made.id)
    await deliver(bench)
    [got] = receiver.got
    assert got.verified(made.secret)["type"] == "webhook.test"
    assert got.id == f"msg_{delivery_id.hex}"
    [delivery] = await deliveries(runtime, made.id)
    assert (delivery["id"], delivery["state"]) == (delivery_id, "delivered")


async def test_streams_stay_outside_depth_and_end_when_they_have_enough(
    bench: Bench, receiver: Receiver
) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    small = Outbox(runtime, OutboxConfig(stream_size=1))
    for _ in range(2):
        await run_job(bench)
        await past_all(runtime)
        await small.run_once()
    async with runtime.db.acquire() as conn:
        assert await conn.fetchval("SELECT depth FROM queue_state()") == 0
    await bench.work()
    assert (await WebhookKeeper(runtime).run_once()).ended == 1
    assert [row["state"] for row in await streams(runtime)] == ["done", "running"]
    # Sent again, an old one goes on for as long as that takes.
    row = (await deliveries(runtime, made.id))[0]
    async with runtime.db.transaction() as conn:
        await endpoints.redeliver(runtime, conn, Caller(bench.who), row["id"])
    await bench.work()
    assert (await WebhookKeeper(runtime).run_once()).ended == 1
    assert len(receiver.got) == 3


async def test_a_job_of_deliveries_that_somebody_cancels(bench: Bench, receiver: Receiver) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    await run_job(bench)
    await tell(runtime)
    [stream] = await streams(runtime)
    async with runtime.db.transaction() as conn:
        await ending.cancel(conn, stream["id"])
    assert (await WebhookKeeper(runtime).run_once()).noted == 1
    [row] = await deliveries(runtime, made.id)
    assert row["state"] == "failed"
    assert [letter["code"] for letter in await letters(runtime)] == ["CANCELLED"]
    # Another job takes what comes; and what was cancelled can still be sent.
    await run_job(bench)
    await deliver(bench)
    assert len(receiver.got) == 1
    async with runtime.db.transaction() as conn:
        await endpoints.redeliver(runtime, conn, Caller(bench.who), row["id"])
    await bench.work()
    assert len(receiver.got) == 2
    assert {row["state"] for row in await deliveries(runtime, made.id)} == {"delivered"}


async def test_the_log_is_kept_for_a_while(bench: Bench, receiver: Receiver) -> None:
    runtime = bench.runtime
    made = await subscribe(runtime, bench.who, receiver.url)
    await run_job(bench)
    await deliver(bench)
    assert (await WebhookKeeper(runtime).run_once()).dropped == 0
    async with runtime.db.acquire() as conn:
        await conn.execute("UPDATE webhook_deliveries SET settled_at = now() - interval '31 days'")
    assert (await WebhookKeeper(runtime).run_once()).dropped == 1
    assert await deliveries(runtime, made.id) == []


async def test_a_slow_receiver_is_given_up(bench: Bench, receiver: Receiver) -> None:
    made = await subscribe(bench.runtime, bench.who, receiver.url)
    receiver.lets_go.clear()
    await run_job(bench)
    await deliver(bench)
    [delivery] = await deliveries(bench.runtime, made.id)
    [tried] = from_json(delivery["attempts"])
    assert tried["error"]["code"] == "FETCH_TIMEOUT"
    assert 4900 <= tried["ms"] <= 40_000
    receiver.lets_go.set()


def seal_with(runtime: Runtime, sealer: SealerPort) -> None:
    """From now on the process has another key."""
    object.__setattr__(runtime, "sealer", sealer)
    receivers = StoredReceivers(runtime.db, sealer)
    object.__setattr__(runtime, "ports", {**runtime.ports, Receivers: receivers})


async def test_a_lost_key_keeps_only_its_own_waiting(bench: Bench, receiver: Receiver) -> None:
    runtime = bench.runtime
    right = runtime.sealer
    lost = await subscribe(runtime, bench.who, receiver.url)
    other = new_key()
    seal_with(runtime, Sealer(lambda: other))
    fine = await subscribe(runtime, bench.who, receiver.url)
    await run_job(bench)
    await deliver(bench)
    assert [row["state"] for row in await deliveries(runtime, fine.id)] == ["delivered"]
    [waiting] = await deliveries(runtime, lost.id)
    assert (waiting["state"], waiting["tries"]) == ("pending", 0)
    receiver.got[0].verified(fine.secret)
    seal_with(runtime, right)
    assert [29 < wait < 31 for wait in await all_due(runtime)] == [True]
    await bench.work()
    assert [row["state"] for row in await deliveries(runtime, lost.id)] == ["delivered"]
    assert await letters(runtime) == []


async def test_a_database_restored_into_another_server_goes_on_telling(
    bench: Bench, receiver: Receiver
) -> None:
    """There transactions are numbered from the start again, and ours are far ahead."""
    made = await subscribe(bench.runtime, bench.who, receiver.url)
    async with bench.runtime.db.acquire() as conn:
        await conn.execute("UPDATE webhook_endpoints SET since = '900000000000'")
        await conn.execute("UPDATE event_cursors SET xid = '900000000000', event_id = 7")
    await run_job(bench)
    await deliver(bench)
    assert [row["state"] for row in await deliveries(bench.runtime, made.id)] == ["delivered"]
    await deliver(bench)
    assert len(receiver.got) == 1


async def test_the_log_is_in_the_order_of_events(bench: Bench, receiver: Receiver) -> None:
    made = await subscribe(bench.runtime, bench.who, receiver.url, "*")
    for _ in range(3):
        await run_job(bench)
    await tell(bench.runtime)
    told = [row["event"] for row in await deliveries(bench.runtime, made.id)]
    assert told == ["job.queued", "job.started", "job.completed"] * 3


async def test_an_idle_installation_writes_nothing(bench: Bench) -> None:
    async with bench.runtime.db.acquire() as conn:
        await run_job(bench)
        await tell(bench.runtime)
        before = await conn.fetchval("SELECT xmin::text || xmax::text FROM event_cursors")
        for _ in range(3):
            await tell(bench.runtime)
        assert before == await conn.fetchval("SELECT xmin::text || xmax::text FROM event_cursors")


async def test_nobody_submits_deliveries(bench: Bench) -> None:
    with pytest.raises(BadInput, match=r"no pipeline .webhooks. to submit"):
        await bench.submit("webhooks", {})


async def test_answers_are_kept_in_short(bench: Bench, receiver: Receiver) -> None:
    made = await subscribe(bench.runtime, bench.who, receiver.url)
    receiver.status, receiver.body = "500 Internal Server Error", b"\0x\xff" * 5000
    await run_job(bench)
    await deliver(bench)
    [delivery] = await deliveries(bench.runtime, made.id)
    [tried] = json.loads(delivery["attempts"])
    assert len(tried["response"]) <= 1000
