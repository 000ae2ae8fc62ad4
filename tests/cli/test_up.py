"""`penstock up`, `penstock api` and `penstock worker` as whole processes."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import psutil
import pytest
from tests.cli.conftest import Cli, Process
from tests.ports import free_port


def until(true: Callable[[], object], within_s: float = 60) -> None:
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def healthy(port: int) -> bool:
    try:
        return bool(urlopen(f"http://127.0.0.1:{port}/health", timeout=1).status == 200)
    except OSError:
        return False


def family(process: Process) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def end(process: Process, number: int) -> str:
    """What it said; nothing that it started may be left."""
    started = family(process)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, out + err
    assert [one for one in started if one.is_running()] == []
    return out + err


@pytest.fixture
def cli(cli: Cli) -> Cli:
    """How processes start is what this is about."""
    return replace(cli, cold=True)


def test_up_starts_everything_and_leaves_nothing(lone_cli: Cli, tmp_path: Path) -> None:
    port = free_port()
    said = ""
    for start in ("first", "second"):
        up = lone_cli.start("up", "--workers", "1", PENSTOCK_PORT=str(port))
        until(lambda: healthy(port))
        if start == "first":
            (tmp_path / "t.csv").write_text("sku,b\n1,2\n")
            ask = replace(lone_cli, cold=False)
            assert ask.json("extract", tmp_path / "t.csv")["state"] == "done"
            found = ask.json("doctor", PENSTOCK_PORT=str(port))
            assert {check["status"] for check in found["checks"]} == {"ok"}
        said += end(up, signal.SIGINT)
    # There is no terminal: what would be in a log is in files of their owner.
    folder = lone_cli.data_dir
    note, key = folder / "admin.password", folder / "admin.key"
    (password,) = note.read_text().splitlines()
    assert len(password) > 12
    assert password not in said
    assert key.read_text().strip() not in said
    assert (note.stat().st_mode & 0o777, key.stat().st_mode & 0o777) == (0o600, 0o600)
    # Told by the first start, and by no other.
    assert said.count(f"The password is in {note}") == 1
    assert said.count("Stopped.") == 2


def test_a_taken_port_is_told_of(lone_cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = lone_cli("up", code=1, PENSTOCK_PORT=str(port)).stderr
    assert said.startswith(f"penstock: Port {port} on 127.0.0.1 is taken by another program.")
    assert "PENSTOCK_PORT" in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_api_runs_alone_and_ends_in_time(cli: Cli, number: int) -> None:
    port = free_port()
    api = cli.start("api", "--port", str(port))
    until(lambda: healthy(port) or api.poll() is not None)
    with socket.create_connection(("127.0.0.1", port)) as idle:
        idle.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n")
        began = time.monotonic()
        end(api, number)
        # It does not wait for the rest of the request.
        assert time.monotonic() - began < 25


def test_a_worker_runs_alone_and_says_goodbye(cli: Cli) -> None:
    worker = cli.start("worker", "--lanes", "basic, standard", "--pipelines", "extraction")
    ask = replace(cli, cold=False)
    until(lambda: "1 with 5 slots" in ask("doctor").stdout)
    assert '"event": "worker is stopping"' in end(worker, signal.SIGTERM)
    assert "none runs" in ask("doctor").stdout
