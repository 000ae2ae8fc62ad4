"""A Redis of our own, for the peers that need one: private, durable as its guide advises."""

from __future__ import annotations

import asyncio
import shutil
import socket
from asyncio.subprocess import DEVNULL, create_subprocess_exec
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

_PATIENCE_S = 20.0


class NoRedis(Exception):
    """There is no server to measure with."""


def find_redis() -> str:
    found = shutil.which("redis-server")
    if found is None:
        raise NoRedis("there is no redis-server; as root, `make bench` installs Debian's")
    return found


@asynccontextmanager
async def open_redis(folder: Path) -> AsyncIterator[str]:
    """Its address. Every write goes to its log, which is flushed to the disk every second."""
    program, port = find_redis(), _free_port()
    folder.mkdir(parents=True, exist_ok=True)
    process = await create_subprocess_exec(
        program, "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", "",
        "--appendonly", "yes", "--appendfsync", "everysec", stdout=DEVNULL,
    )  # fmt: skip
    try:
        await _until_it_answers(port)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def _until_it_answers(port: int) -> None:
    async with asyncio.timeout(_PATIENCE_S):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
                continue
            writer.write(b"PING\r\n")
            answer = await reader.readline()
            writer.close()
            if answer.startswith(b"+PONG"):
                return
            await asyncio.sleep(0.05)
