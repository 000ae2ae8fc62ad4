"""An SMTP server that misbehaves costs a bounded time, and its answer is told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from penstock.guards.smtp import SmtpMailer, SmtpServer
from penstock.model.errors import PenstockError, PermanentError, Unavailable

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
MAIL = b"Subject: Test\r\n\r\n.hidden\r\nend\r\n"


@asynccontextmanager
async def answering(talk: Talk, seconds: float = 0.5) -> AsyncIterator[SmtpMailer]:
    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield SmtpMailer(SmtpServer.parse(f"smtp://127.0.0.1:{port}?from=a@example.com"), seconds)
    finally:
        server.close()


async def says_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def never_ends_its_greeting(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    while True:
        writer.write(b"220-more\r\n" * 1000)
        await writer.drain()


async def sends_one_endless_line(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    while True:
        writer.write(b"2" * 65536)
        await writer.drain()


async def hangs_after_the_greeting(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    writer.write(b"220 hello\r\n")
    await reader.read()


async def closes_at_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"220 hello\r\n")
    await reader.readline()


@pytest.mark.parametrize(
    "talk",
    [
        says_nothing,
        never_ends_its_greeting,
        sends_one_endless_line,
        hangs_after_the_greeting,
        closes_at_once,
    ],
)
async def test_a_server_that_misbehaves_is_left_within_the_time_given(talk: Talk) -> None:
    async with answering(talk) as mailer:
        start = time.monotonic()
        with pytest.raises(Unavailable):
            await mailer.send("ops@example.com", MAIL)
        # Half a second is given; servers hold on for ever.
        assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("reply", "kind"), [(b"421 try later\r\n", Unavailable), (b"554 go away\r\n", PermanentError)]
)
async def test_a_refusal_is_told_in_the_words_of_the_server(
    reply: bytes, kind: type[PenstockError]
) -> None:
    async def refuses(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(reply)
        await reader.read()

    async with answering(refuses) as mailer:
        with pytest.raises(kind, match=reply.decode().strip()):
            await mailer.send("ops@example.com", MAIL)


@pytest.mark.parametrize(
    "url", ["http://a", "smtp://", "smtp://a?from=x%0d%0aRCPT", "smtp://a?from=<x>"]
)
def test_a_setting_that_names_no_server_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"smtp://|from"):
        SmtpServer.parse(url)
