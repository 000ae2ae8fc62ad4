"""Files and pictures that hold child processes for as long as they can: others go on."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from uuid import uuid4

import httpx2
import orjson
import pytest
from PIL import Image
from tests.api.conftest import Caller, file_of
from tests.fixtures import Bench
from tests.guards import child_work
from tests.guards.servers import answering, serving

from penstock.api.catalog.pictures import Pictures
from penstock.engine.runtime import Runtime
from penstock.formats.pictures import MAX_SCANS, count_scans, shrink
from penstock.guards.children import ChildPool
from penstock.guards.fair_slots import FairSlots
from penstock.model.errors import BadInput, PermanentError
from penstock.model.ports import Children
from penstock.settings import Settings

MEMORY = 512 * 1024 * 1024


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"fetch_allow": "127.0.0.1/32", "previews_at_once": 2})


@asynccontextmanager
async def holding(children: Children, owner: int, calls: int) -> AsyncIterator[None]:
    """Work of one owner that never ends, as much of it as the pool takes."""
    tasks = [
        asyncio.create_task(children.for_owner(owner).call(child_work.hang_forever))
        for _ in range(calls)
    ]
    await asyncio.sleep(0)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def picture() -> bytes:
    made = io.BytesIO()
    Image.new("RGB", (300, 200), (200, 30, 30)).save(made, "PNG")
    return made.getvalue()


def jpeg_of_scans(scans: int) -> bytes:
    """A progressive JPEG whose last scan is there again and again."""
    made = io.BytesIO()
    Image.new("RGB", (4000, 4000), (200, 30, 30)).save(made, "JPEG", progressive=True)
    content = made.getvalue()
    last = content.rindex(b"\xff\xda")
    return content[:last] + content[last:-2] * scans + content[-2:]


async def test_an_owner_never_holds_all_slots() -> None:
    slots = FairSlots(3)
    async with AsyncExitStack() as stack:
        for _ in range(2):
            await stack.enter_async_context(slots.slot("greedy"))
        third = asyncio.create_task(stack.enter_async_context(slots.slot("greedy")))
        await asyncio.sleep(0)
        async with asyncio.timeout(60), slots.slot("other"):
            pass
        assert not third.done()
        third.cancel()
        await asyncio.gather(third, return_exceptions=True)


async def test_a_free_slot_goes_to_the_owner_that_holds_fewest() -> None:
    slots, served = FairSlots(2), []

    async def use(owner: str) -> None:
        async with slots.slot(owner):
            served.append(owner)
            await asyncio.sleep(0)

    async with asyncio.timeout(60):
        await asyncio.gather(*(use("greedy") for _ in range(20)), use("modest"))
    assert served.index("modest") <= 2


async def test_a_cancelled_wait_leaves_all_slots_usable() -> None:
    slots = FairSlots(1)
    for _ in range(3):
        async with slots.slot("a"):
            waiting = asyncio.create_task(use(slots))
            await asyncio.sleep(0)
        # Granted by now, and cancelled before it could begin.
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    async with asyncio.timeout(60), slots.slot("b"):
        pass


async def test_a_slot_is_not_granted_to_a_wait_that_was_just_cancelled() -> None:
    slots = FairSlots(1)
    async with asyncio.timeout(60):
        async with slots.slot("a"):
            waiting = asyncio.create_task(use(slots))
            await asyncio.sleep(0)
            # The slot is released before the cancelled task runs again.
            waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        async with slots.slot("b"):
            pass
    assert waiting.cancelled()


async def use(slots: FairSlots) -> None:
    async with slots.slot("a"):
        pass


async def test_a_child_that_takes_too_long_is_a_permanent_error() -> None:
    pool = ChildPool(MEMORY, cpu_seconds=5, wall_seconds=0.3)
    try:
        with pytest.raises(PermanentError) as refused:
            await pool.call(child_work.hang_forever)
        assert refused.value.code == "TOO_SLOW"
    finally:
        await pool.close()


async def test_held_previews_of_one_org_leave_room_for_others(
    runtime: Runtime, client: httpx2.AsyncClient
) -> None:
    async with holding(runtime.preview_children, owner=-1, calls=10), asyncio.timeout(30):
        answer = await client.post("/api/jobs/preview", files=file_of())
    assert answer.status_code == 200, answer.text


async def test_pictures_wait_neither_for_previews_nor_for_stages(bench: Bench) -> None:
    runtime = bench.runtime
    shown = Pictures(runtime)
    async with (
        serving(answering(body=picture())) as server,
        holding(runtime.preview_children, -1, 5),
        holding(runtime.children, -1, 5),
        holding(runtime.picture_children, -1, 5),
        asyncio.timeout(30),
    ):
        assert await shown.get(1, f"http://127.0.0.1:{server.port}/a.png", "small")


def test_scans_of_a_jpeg_are_counted_before_it_is_decoded() -> None:
    assert 1 < count_scans(jpeg_of_scans(1)) < 20
    assert count_scans(picture()) == 0
    shrink(jpeg_of_scans(1), [96])
    start = time.process_time()
    with pytest.raises(BadInput, match="scans") as refused:
        shrink(jpeg_of_scans(2000), [96])
    assert refused.value.code == "PICTURE_UNREADABLE"
    assert count_scans(jpeg_of_scans(2000)) == MAX_SCANS + 1
    assert time.process_time() - start < 3


async def test_a_picture_that_takes_too_long_is_told_as_unreadable(bench: Bench) -> None:
    pool = ChildPool(MEMORY, cpu_seconds=5, wall_seconds=0.001)
    shown = Pictures(replace(bench.runtime, picture_children=pool))
    try:
        async with serving(answering(body=picture())) as server:
            with pytest.raises(BadInput, match="too long"):
                await shown.get(1, f"http://127.0.0.1:{server.port}/a.png", "small")
    finally:
        await pool.close()


async def test_a_fetch_that_no_request_waits_for_is_cancelled(bench: Bench) -> None:
    shown, asked, gone = Pictures(bench.runtime), asyncio.Event(), asyncio.Event()

    async def drip(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        asked.set()
        try:
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.01)
        except ConnectionError:
            gone.set()

    async with serving(drip) as server, asyncio.timeout(60):
        url = f"http://127.0.0.1:{server.port}/{uuid4().hex}.png"
        requests = [asyncio.create_task(shown.get(1, url, "small")) for _ in range(2)]
        await asked.wait()
        requests[0].cancel()
        await asyncio.gather(requests[0], return_exceptions=True)
        assert not gone.is_set(), "another request still waits for it"
        requests[1].cancel()
        await gone.wait()
        await asyncio.gather(*requests, return_exceptions=True)


async def test_clients_that_leave_free_their_previews(
    runtime: Runtime, port: int, caller: Caller
) -> None:
    """Previews wait for children until no more are taken; then their clients leave."""
    member = await caller()
    stored = await member.post("/api/files", files=file_of())
    assert stored.status_code == 201, stored.text
    body = orjson.dumps({"pipeline": "extraction", "fileId": stored.json()["id"]})
    head = (
        f"POST /api/jobs/preview HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: {member.headers['authorization']}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writers = []
    async with asyncio.timeout(60):
        async with (
            holding(runtime.preview_children, owner=-1, calls=1),
            holding(runtime.preview_children, owner=-2, calls=1),
        ):
            for _ in range(runtime.settings.previews_at_once * 8):
                writers.append((await asyncio.open_connection("127.0.0.1", port))[1])
                writers[-1].write(head.encode() + body)
            await until_status(member, body, busy=True)
            for writer in writers:
                writer.close()
            pending = await until_status(member, body, busy=False)
        answer = await pending
    assert answer.status_code == 200, answer.text


async def until_status(
    client: httpx2.AsyncClient, body: bytes, *, busy: bool
) -> asyncio.Task[httpx2.Response]:
    """A preview that is refused because of too many others, or one that is not."""
    while True:
        headers = {"Content-Type": "application/json"}
        asked = asyncio.create_task(client.post("/api/jobs/preview", content=body, headers=headers))
        await asyncio.wait({asked}, timeout=0.2)
        refused = asked.done() and asked.result().status_code in (429, 503)
        if refused is busy:
            return asked
        if not asked.done():
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
