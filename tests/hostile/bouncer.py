"""A PgBouncer of the test's own in front of the tests' PostgreSQL."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg
import pytest
from tests.ports import free_port

from penstock.supervisor.identity import Identity

_IGNORED = (
    "search_path,jit,enable_bitmapscan,idle_in_transaction_session_timeout,statement_timeout,"
    "tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count,tcp_user_timeout,"
    "default_transaction_read_only,penstock.probe"
)


@asynccontextmanager
async def bouncing(
    folder: Path, dsn: str, *, mode: str = "transaction", size: int = 1, drops_settings: bool = True
) -> AsyncIterator[str]:
    """The address of a pooler with ``size`` sessions. ``drops_settings``: it ignores what clients
    set as they connect, as operators tell it to so that clients can connect at all."""
    program = shutil.which("pgbouncer")
    if program is None:
        pytest.skip("pgbouncer is not installed")
    found, port = urlsplit(dsn), free_port()
    host = found.hostname or parse_qs(found.query)["host"][0]
    config = folder / "pgbouncer.ini"
    folder.mkdir(parents=True, exist_ok=True)
    config.write_text(
        f"""[databases]
penstock = host={host} dbname={found.path.strip("/")} user={found.username} \
password={unquote(found.password or "")}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 300
query_wait_timeout = 30
{f"ignore_startup_parameters = {_IGNORED}" if drops_settings else ""}
"""
    )
    hook = Identity(0, 0, "namespace").launch_hook(signal.SIGKILL) if os.geteuid() == 0 else None
    log = folder / "pgbouncer.log"
    with log.open("wb") as out:
        process = subprocess.Popen([program, config], stdout=out, stderr=out, preexec_fn=hook)
    address = f"postgresql://anyone@127.0.0.1:{port}/penstock"
    try:
        await _until_it_answers(address, process, log)
        yield address
    finally:
        process.kill()
        process.wait()


async def _until_it_answers(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    async with asyncio.timeout(20):
        while True:
            try:
                connection = await asyncpg.connect(address, statement_cache_size=0)
            except OSError:
                assert process.poll() is None, log.read_text()
                await asyncio.sleep(0.05)
                continue
            connection.terminate()
            return
