"""One real PostgreSQL for the whole run, a schema of its own for each test."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import tempfile
from pathlib import Path

import hypothesis
import pytest
import structlog
from argon2 import PasswordHasher

from penstock import wiring
from penstock.accounts import passwords
from penstock.supervisor.postgres import EmbeddedPostgres
from tests.reused_children import ReusedChildPool
from tests.times import longest_first, recorded

pytest_plugins = ["tests.fixtures"]
# How long an example takes depends on what else the machine does; benchmarks measure time.
hypothesis.settings.register_profile("penstock", deadline=None)
hypothesis.settings.load_profile("penstock")
# Left alone, it draws the locals of every frame of a logged exception: half a minute for some.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.dev.ConsoleRenderer(
            colors=False, exception_formatter=structlog.dev.plain_traceback
        ),
    ]
)
# The real ones take a tenth of a second each; how passwords are kept has its own test.
passwords._hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
passwords._UNMATCHED = passwords._unmatched_hash()
# Tests of the pool itself, and processes that tests start, have children of their own.
wiring.ChildPool = ReusedChildPool  # type: ignore[attr-defined]
# Read by settings that a test makes without our fixture, and by processes that it starts.
os.environ["PENSTOCK_TEST_PIPELINES"] = "1"
_MEMORY = Path("/dev/shm")
_MEMORY_NEEDED = 8 * 1024**3
SERVER: pytest.StashKey[tuple[EmbeddedPostgres, Path]] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    """The process that starts the test workers also starts the server, and hands on its address."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # As a shell has it in the background; all that tests start, and interrupt, would, too.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    memory = _memory()
    if memory is not None:
        # Where `tmp_path` is: many tests have a PostgreSQL of their own in theirs.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))
    folder = Path(tempfile.mkdtemp(prefix="penstock-test-", dir=memory))
    server = EmbeddedPostgres(folder)
    asyncio.run(server.start())
    config.stash[SERVER] = (server, folder)
    os.environ["PENSTOCK_TEST_OWNER_DSN"] = server.owner_dsn
    os.environ["PENSTOCK_TEST_API_DSN"] = server.api_dsn


def _memory() -> Path | None:
    """A folder in memory, where fsync costs nothing: Penstock refuses a server without fsync."""
    try:
        return _MEMORY if shutil.disk_usage(_MEMORY).free >= _MEMORY_NEEDED else None
    except OSError:
        return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    times = recorded()
    items.sort(key=lambda item: longest_first(item.nodeid.partition("::")[0], times))


def pytest_unconfigure(config: pytest.Config) -> None:
    if SERVER in config.stash:
        server, folder = config.stash[SERVER]
        asyncio.run(server.stop())
        shutil.rmtree(folder, ignore_errors=True)
