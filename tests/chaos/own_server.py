"""A separate PostgreSQL for tests that kill it, fill its disk or make its writes fail."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.checker.polling import until
from tests.fixtures import copy_folder

from penstock.supervisor.postgres import EmbeddedPostgres


class OwnServer:
    """Tests in a subclass run on a server that no other test uses."""

    @pytest.fixture
    async def server(self, new_cluster: Path, tmp_path: Path) -> AsyncIterator[EmbeddedPostgres]:
        async with EmbeddedPostgres(copy_folder(new_cluster, tmp_path / "server")) as running:
            yield running

    @pytest.fixture
    def owner_dsn(self, server: EmbeddedPostgres) -> str:
        return server.owner_dsn

    @pytest.fixture
    def api_dsn(self, server: EmbeddedPostgres) -> str:
        return server.api_dsn


async def kill(server: EmbeddedPostgres) -> None:
    """SIGKILL to the postmaster, whose backends then end by themselves."""
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)

    async def gone() -> bool:
        return server.pid is None

    await until(gone, "the server to die")
