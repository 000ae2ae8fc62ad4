"""Handlers of queues, with the events that Lambda documents for SQS FIFO queues."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from hashlib import md5
from typing import Any
from uuid import UUID

import pytest
from tests.crawl.site import Reply, plan_of, product_page, sites
from tests.crawl.support import Crawler

from penstock.handlers.crawl import CRAWL, EXTRACT, PageMessages
from penstock.model.crawl.messages import PageMessage
from penstock.model.errors import BadInput
from penstock.model.text.json_text import from_json
from penstock.settings import Settings

pytestmark = pytest.mark.slow
SOME_RUN = UUID("0192f0c1-7d5e-7c3a-9b1f-3f2d5a6b7c8d")


def event_of(*messages: PageMessage, queue: str = "CrawlerQueue.fifo") -> dict[str, Any]:
    """As in "Using Lambda with Amazon SQS", for a FIFO queue."""
    return {
        "Records": [
            {
                "messageId": f"11d6ee51-4cc7-4302-9e22-7cd8afdaad{number:02}",
                "receiptHandle": "AQEBBX8nesZEXmkhsmZeyIE8iQAMig7qw...",
                "body": message.body(),
                "attributes": {
                    "ApproximateReceiveCount": "1",
                    "SentTimestamp": "1573251510774",
                    "SequenceNumber": "18849496460467696128",
                    "MessageGroupId": message.group_id,
                    "SenderId": "AIDAIO23YVJENQZJOL4VO",
                    "MessageDeduplicationId": message.deduplication_id,
                    "ApproximateFirstReceiveTimestamp": "1573251510774",
                },
                "messageAttributes": {},
                "md5OfBody": md5(message.body().encode(), usedforsecurity=False).hexdigest(),
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:us-east-2:123456789012:{queue}",
                "awsRegion": "us-east-2",
            }
            for number, message in enumerate(messages)
        ]
    }


def test_group_and_deduplication_id() -> None:
    message = PageMessage(SOME_RUN, 456, "google", "jobs/123456")
    assert json.loads(message.body()) == {
        "run_id": str(SOME_RUN), "user_id": 456, "company": "google", "external_id": "jobs/123456",
    }  # fmt: skip
    assert message.group_id == "google"
    assert message.deduplication_id == f"{SOME_RUN}-google-jobs/123456"
    assert PageMessage.of_body(message.body()) == message
    # SQS takes 128 characters, and no spaces or letters beyond ASCII.
    for company, external_id in (("Häfele AG", "1"), ("google", "x" * 200)):
        other = PageMessage(SOME_RUN, 456, company, external_id)
        assert len(other.deduplication_id) <= 128
        assert other.deduplication_id.isascii()
        assert other.group_id.isalnum()


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{}", '{"run_id": 1, "user_id": 2, "company": "a", "external_id": "b"}',
     f'{{"run_id": "{SOME_RUN}", "user_id": 2, "company": 1, "external_id": "b"}}'],
)  # fmt: skip
def test_what_is_no_message(body: str) -> None:
    with pytest.raises(BadInput):
        PageMessage.of_body(body)


async def _messages(crawler: Crawler, run_id: UUID) -> list[PageMessage]:
    items = await crawler.bench.items(run_id)
    told = [from_json(item["input"]) for item in items]
    user_id = crawler.bench.who.user_id
    return [PageMessage(run_id, user_id, one["company"], one["externalId"]) for one in told]


async def test_both_queues_bring_a_run_to_its_end(crawler: Crawler) -> None:
    handlers = PageMessages(crawler.bench.runtime)
    async with sites() as [site]:
        for number in range(1, 4):
            site.pages[f"/p/{number}"] = Reply(product_page(f"Lamp {number}", sku=f"L{number}"))
        run_id = await crawler.start(plan_of(site))
        ids = [f"{site.base[7:]}/p/{number}" for number in range(1, 4)]
        crawl = [
            PageMessage(run_id, crawler.bench.who.user_id, "acme", external_id)
            for external_id in ids
        ]
        forwarded: list[PageMessage] = []
        for message in crawl:
            answer = await handlers.handle(event_of(message), CRAWL, 20, forwarded.append)
            assert answer == {"batchItemFailures": []}
        assert forwarded == crawl == await _messages(crawler, run_id)
        assert site.paths() == ["/p/1", "/p/2", "/p/3"]
        assert (await crawler.look(run_id)).counts["crawled"] == 3
        # A message that is delivered twice fetches nothing.
        await handlers.handle(event_of(crawl[0]), CRAWL, 20)
        assert len(site.paths()) == 3
        event = event_of(*forwarded, queue="ExtractorQueue.fifo")
        assert await handlers.handle(event, EXTRACT, 20) == {"batchItemFailures": []}
        run = await crawler.look(run_id)
        assert (run.status, run.counts["ready"]) == ("finished", 3)
        assert run.job.finished_at is not None


async def test_aborted_foreign_and_unknown_messages_do_nothing(crawler: Crawler) -> None:
    handlers = PageMessages(crawler.bench.runtime)
    async with sites() as [site]:
        site.pages["/p"] = Reply(product_page("Lamp"))
        run_id = await crawler.start(plan_of(site))
        user, page = crawler.bench.who.user_id, f"{site.base[7:]}/p"
        messages = (
            PageMessage(SOME_RUN, user, "acme", page),
            PageMessage(run_id, user + 1, "acme", page),
        )
        for message in messages:
            answer = await handlers.handle(event_of(message), CRAWL, 5)
            assert answer == {"batchItemFailures": []}
        other = PageMessage(run_id, user, "acme", "no such page")
        await handlers.handle(event_of(other), CRAWL, 5)
        assert site.log == []


async def test_what_was_not_done_in_time_is_delivered_again_in_order(crawler: Crawler) -> None:
    handlers = PageMessages(crawler.bench.runtime)
    async with sites() as [site]:
        for number in range(1, 4):
            site.pages[f"/p/{number}"] = Reply(product_page(f"Lamp {number}"))
        run_id = await crawler.start(plan_of(site), rate=0.1, robots=False)
        messages = [
            PageMessage(run_id, crawler.bench.who.user_id, "acme", f"{site.base[7:]}/p/{number}")
            for number in range(1, 4)
        ]
        event = event_of(*messages)
        answer = await asyncio.wait_for(handlers.handle(event, CRAWL, 1.5), 60)
        ids = [record["messageId"] for record in event["Records"]]
        assert answer == {"batchItemFailures": [{"itemIdentifier": one} for one in ids[1:]]}
        assert site.paths() == ["/p/1"]


async def test_the_functions_that_lambda_calls(
    crawler: Crawler, settings: Settings, owner_dsn: str
) -> None:
    """In a process of its own, with nothing but settings from the environment."""
    async with sites() as [site]:
        site.pages["/p"] = Reply(product_page("Lamp"))
        run_id = await crawler.start(plan_of(site))
        message = PageMessage(run_id, crawler.bench.who.user_id, "acme", f"{site.base[7:]}/p")
        script = (
            "import json, sys\n"
            "from penstock.handlers import crawl_message, extract_message\n"
            "event = json.load(sys.stdin)\n"
            "print(json.dumps([crawl_message(event), extract_message(event, None)]))\n"
        )
        env = {name: one for name, one in os.environ.items() if not name.startswith("PENSTOCK_")}
        env |= {
            "PENSTOCK_DATABASE_URL": owner_dsn,
            "PENSTOCK_DATABASE_SCHEMA": settings.database_schema,
            "PENSTOCK_DATA_DIR": str(settings.data_dir),
            "PENSTOCK_CRAWL_ALLOW": "127.0.0.1",
            "PENSTOCK_LOG_LEVEL": "error",
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, env=env, stdin=PIPE, stdout=PIPE, stderr=PIPE
        )
        out, err = await process.communicate(json.dumps(event_of(message)).encode())
        assert process.returncode == 0, err.decode()
        assert json.loads(out.splitlines()[-1]) == [{"batchItemFailures": []}] * 2
        run = await crawler.look(run_id)
        assert (run.status, run.counts["ready"]) == ("finished", 1)
