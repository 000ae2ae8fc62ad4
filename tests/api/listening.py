"""A reader of event streams, as a browser is one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import orjson


@dataclass
class Block:
    """One block of a stream: an event, or a sign of life."""

    id: str = ""
    event: str = ""
    data: Any = None
    retry: int | None = None
    comments: list[str] = field(default_factory=list)


@dataclass
class Reader:
    answer: httpx2.Response
    last_id: str = ""
    last_event: str = ""
    blocks: list[Block] = field(default_factory=list)
    ended: bool = False

    @property
    def events(self) -> list[Block]:
        return [block for block in self.blocks if block.event]

    @property
    def names(self) -> list[str]:
        return [block.event for block in self.events]

    @property
    def numbers(self) -> list[int]:
        return [block.data["seq"] for block in self.events]

    async def read(self) -> None:
        """Until the stream ends, however it does."""
        block = Block()
        try:
            async for line in self.answer.aiter_lines():
                if line:
                    _take(block, line)
                    continue
                self.last_id = block.id or self.last_id
                self.last_event = block.event or self.last_event
                self.blocks.append(block)
                block = Block()
        except (httpx2.TransportError, httpx2.StreamError):
            pass
        finally:
            self.ended = True


def _take(block: Block, line: str) -> None:
    name, _, value = line.partition(":")
    value = value.removeprefix(" ")
    match name:
        case "":
            block.comments.append(value)
        case "id":
            block.id = value
        case "event":
            block.event = value
        case "data":
            assert block.data is None, "one line of data"
            block.data = orjson.loads(value)
        case "retry":
            block.retry = int(value)
        case _:
            raise AssertionError(line)


@asynccontextmanager
async def listening(
    client: httpx2.AsyncClient, path: str, last_id: str = "", **params: Any
) -> AsyncIterator[Reader]:
    headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_id} if last_id else {})
    async with client.stream("GET", path, headers=headers, params=params, timeout=30) as answer:
        if answer.status_code != 200:
            await answer.aread()
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].startswith("text/event-stream")
        reader = Reader(answer)
        reading = asyncio.create_task(reader.read())
        try:
            yield reader
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


async def until(what: Any, seconds: float = 20) -> None:
    """Wait for something to become true."""
    async with asyncio.timeout(seconds):
        while not what():
            await asyncio.sleep(0.01)
