"""Real `penstock` processes on a data folder that the tests of a module share."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.fixtures import copy_folder
from tests.ports import free_port
from tests.warm import WarmProcess, start_process

from penstock.settings import Settings
from penstock.supervisor.postgres import EmbeddedPostgres
from penstock.supervisor.published import read_address
from penstock.wiring import prepare

Process: TypeAlias = subprocess.Popen[str] | WarmProcess
SOURCE = Path(__file__).resolve().parents[2] / "src"


def environment(data_dir: Path, **more: str) -> dict[str, str]:
    """Nothing of what the caller of the tests has set for Penstock."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")}
    ours = {"PENSTOCK_DATA_DIR": str(data_dir), "PENSTOCK_TEST_PIPELINES": "1"}
    return {**kept, "PYTHONPATH": str(SOURCE), **ours, **more}


@dataclass(frozen=True)
class Cli:
    """`penstock` as a user calls it: ``cli("jobs", "list")``."""

    data_dir: Path
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    cold: bool = False

    def __call__(
        self, *arguments: str | Path, code: int = 0, **more: str
    ) -> subprocess.CompletedProcess[str]:
        done = self.start(*arguments, **more)
        out, err = done.communicate(timeout=60)
        assert done.returncode == code, f"exit code {done.returncode}\n{out}\n{err}"
        assert "Traceback" not in err
        return subprocess.CompletedProcess(arguments, done.returncode, out, err)

    def json(self, *arguments: str | Path, code: int = 0, **more: str) -> Any:
        return json.loads(self(*arguments, "--json", code=code, **more).stdout)

    def start(self, *arguments: str | Path, **more: str) -> Process:
        env = environment(self.data_dir, **self.env, **more)
        if not self.cold:
            return start_process("penstock.cli", *map(str, arguments), env=env, cwd=self.cwd)
        return subprocess.Popen(
            [sys.executable, "-m", "penstock", *map(str, arguments)],
            cwd=self.cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture(scope="session")
def prepared_folder(new_cluster: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a migrated cluster that does not run: copies of it start in no time."""
    folder = copy_folder(new_cluster, tmp_path_factory.mktemp("prepared") / "data")
    settings = Settings(data_dir=folder)

    async def prepare_once() -> None:
        async with EmbeddedPostgres(settings.data_dir) as server:
            await prepare(settings, server.owner_dsn)

    asyncio.run(prepare_once())
    return settings.data_dir


@pytest.fixture(scope="module")
def server_env() -> dict[str, str]:
    """Settings of the API that runs for a module."""
    return {}


@pytest.fixture(scope="module")
def served_folder(
    prepared_folder: Path, tmp_path_factory: pytest.TempPathFactory, server_env: dict[str, str]
) -> Iterator[Settings]:
    """A data folder whose PostgreSQL and API run for the whole module, so that commands join them.
    No worker runs there but those that a test starts."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("served") / "data")
    server = EmbeddedPostgres(copy_folder(prepared_folder, settings.data_dir))
    asyncio.run(server.start())
    try:
        with serving(settings.data_dir, **server_env):
            yield settings
    finally:
        asyncio.run(server.stop())


@contextmanager
def serving(data_dir: Path, **env: str) -> Iterator[str]:
    """`penstock api` on a free port; answers its address."""
    port = free_port()
    quiet = {"PENSTOCK_LOG_LEVEL": "error", **env}
    process = Cli(data_dir, data_dir).start("api", "--port", str(port), **quiet)
    try:
        until = time.monotonic() + 60
        while read_address(data_dir) is None or not answers(port):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until, "the API did not begin to serve"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=60)


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


@pytest.fixture
def cli(served_folder: Settings, tmp_path: Path) -> Cli:
    return Cli(served_folder.data_dir, tmp_path)


@pytest.fixture
def unserved_cli(served_folder: Settings, tmp_path: Path) -> Cli:
    """On the same database, without asking the server of it."""
    address = EmbeddedPostgres(served_folder.data_dir).owner_dsn
    return Cli(served_folder.data_dir, tmp_path, {"PENSTOCK_DATABASE_URL": address})


@pytest.fixture
def lone_cli(tmp_path: Path) -> Cli:
    """On a folder of its own, where nothing runs; from a cold start."""
    here = tmp_path / "here"
    here.mkdir()
    return Cli(tmp_path / "data", here, cold=True)
