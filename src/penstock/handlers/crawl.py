"""`crawl_message` and `extract_message`: the stages of a crawl, fed by two FIFO queues.

The events are those of Lambda with an SQS queue as their source:

    {"Records": [{"messageId": "…", "body": "{\\"run_id\\": …}", "attributes": {…}, …}]}

A message names a page (`model.crawl.messages`). PostgreSQL is the truth: the handler lets a worker
claim, run and settle until the page has left its stage. A message that comes twice, late, or for a
run that was aborted changes nothing. The answer names the messages to deliver again, as
`ReportBatchItemFailures` wants it; after the first of them no other is tried, which keeps the order
of a FIFO queue.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import cache
from typing import Any

from penstock import wiring
from penstock.engine.runtime import Runtime
from penstock.engine.worker.loop import Worker
from penstock.model.crawl.messages import PageMessage
from penstock.model.errors import BadInput
from penstock.model.ticket import Ticket
from penstock.settings import Settings
from penstock.store.crawl import runs

CRAWL, EXTRACT = "crawl", "extract"
_POSITIONS = {CRAWL: 0, EXTRACT: 1}
# A queue's visibility timeout should be longer.
_PATIENCE_S = 50.0
_RESERVE_S = 5.0
_LOOK_S = 0.05
_LIVE = frozenset(("queued", "running"))
Send = Callable[[PageMessage], None]


def crawl_message(
    event: Mapping[str, Any], context: Any = None, *, send: Send | None = None
) -> dict[str, Any]:
    """Fetch and store the pages that the messages name. ``send`` is given the message for the
    queue of `extract_message`, once per page that waits to be extracted."""
    return _session().run(event, context, CRAWL, send)


def extract_message(event: Mapping[str, Any], context: Any = None) -> dict[str, Any]:
    """Extract the stored pages that the messages name, and finish the run after its last page."""
    return _session().run(event, context, EXTRACT, None)


class PageMessages:
    """Works on messages with an engine that is open."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def handle(
        self, event: Mapping[str, Any], stage: str, seconds: float, send: Send | None = None
    ) -> dict[str, Any]:
        until = time.monotonic() + seconds
        records = list(event.get("Records", ()))
        async with Worker(self._runtime, sweeps=False) as worker:
            for place, record in enumerate(records):
                if not await self._one(worker, record, stage, until, send):
                    failed = [{"itemIdentifier": one["messageId"]} for one in records[place:]]
                    return {"batchItemFailures": failed}
        return {"batchItemFailures": []}

    async def _one(
        self, worker: Worker, record: Mapping[str, Any], stage: str, until: float, send: Send | None
    ) -> bool:
        """False: deliver the message again."""
        try:
            message = PageMessage.of_body(record["body"])
        except BadInput as error:
            # It would be as wrong the next time.
            self._runtime.log.warning("a message was dropped", error=str(error))
            return True
        while True:
            page = await self._page(message)
            if page is None or page.state not in _LIVE:
                return True
            if page.status is None and page.ingest_done:
                self._runtime.log.warning("a message names no page of its run", key=message.key)
                return True
            if page.status is not None and not _waits(page, stage):
                if stage == CRAWL and send is not None and _waits(page, EXTRACT):
                    send(message)
                await self._finish(worker, message, page.lane)
                return True
            if time.monotonic() >= until:
                return False
            ticket = Ticket(
                page.lane, message.run_id, stage=stage if page.status else "ingest",
                group=message.company if stage == CRAWL and page.status else "",
            )  # fmt: skip
            if not await worker.run_ticket(ticket):
                # Its company waits for its pace, or another worker has it.
                await asyncio.sleep(_LOOK_S)

    async def _page(self, message: PageMessage) -> runs.PageState | None:
        async with self._runtime.db.acquire() as conn:
            page = await runs.state_of_page(conn, message.run_id, message.key)
        return None if page is None or page.user_id != message.user_id else page

    async def _finish(self, worker: Worker, message: PageMessage, lane: str) -> None:
        """The last page of a run leaves its summary to be made."""
        await worker.run_ticket(Ticket(lane, message.run_id, stage="finish"))


def _waits(page: runs.PageState, stage: str) -> bool:
    """Whether the page has to pass this stage still."""
    return page.status in ("PENDING", "PROCESSING") and page.stage == _POSITIONS[stage]


class _Session:
    """An engine that stays open between the calls of one process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._stack = AsyncExitStack()
        self._messages = self._loop.run_until_complete(self._open())

    async def _open(self) -> PageMessages:
        settings = Settings()
        addresses = await self._stack.enter_async_context(wiring.database_addresses(settings))
        runtime = await self._stack.enter_async_context(
            wiring.open_runtime(settings, addresses.owner_dsn, name="handler", listens=False)
        )
        return PageMessages(runtime)

    def run(
        self, event: Mapping[str, Any], context: Any, stage: str, send: Send | None
    ) -> dict[str, Any]:
        return self._loop.run_until_complete(
            self._messages.handle(event, stage, _seconds(context), send)
        )


def _seconds(context: Any) -> float:
    """Lambda says how much time is left."""
    left = getattr(context, "get_remaining_time_in_millis", None)
    return _PATIENCE_S if left is None else max(0.0, left() / 1000 - _RESERVE_S)


@cache
def _session() -> _Session:
    return _Session()
