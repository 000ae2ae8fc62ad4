"""`run_up` with real children: restarts, signals, and no process left behind."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.ports import free_port

from penstock.settings import Settings
from penstock.supervisor.address import base_url, require_free_port
from penstock.supervisor.errors import PortTaken
from penstock.supervisor.up import Addresses, child_environment, default_commands, run_up
from penstock.supervisor.watch import Backoff

SOURCE = Path(__file__).resolve().parents[2] / "src"

API = """
import http.server, os, pathlib
from penstock.supervisor.children import watch_parent
watch_parent()
pathlib.Path(os.environ["PENSTOCK_DATA_DIR"], "api.pid").write_text(str(os.getpid()))
class Health(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.HTTPServer.allow_reuse_address = True
http.server.HTTPServer(("127.0.0.1", int(os.environ["PENSTOCK_PORT"])), Health).serve_forever()
"""

# Deaf to SIGTERM: only the lifeline's grace or a kill ends it.
DEAF = """
import os, pathlib, signal, time
from penstock.supervisor.children import watch_parent
signal.signal(signal.SIGTERM, signal.SIG_IGN)
watch_parent(grace_s=0.5)
pathlib.Path(os.environ["PENSTOCK_DATA_DIR"], "deaf.pid").write_text(str(os.getpid()))
while True:
    time.sleep(60)
"""

UP = """
import asyncio, sys
from penstock.settings import Settings
from penstock.supervisor.postgres import asyncpg
from penstock.supervisor.up import run_up

async def prepare(addresses):
    connection = await asyncpg.connect(addresses.owner_dsn)
    await connection.execute("CREATE TABLE IF NOT EXISTS prepared ()")
    await connection.close()
    return ["Admin key: psk_test"]

api, *others = sys.argv[1:]
commands = {"api": [sys.executable, "-c", api]}
commands |= {f"other {n}": [sys.executable, "-c", code] for n, code in enumerate(others, 1)}
sys.exit(asyncio.run(run_up(Settings(), prepare=prepare, commands=commands)))
"""


class Up:
    """A supervisor in a process of its own, with its output read as it comes."""

    def __init__(self, data_dir: Path, port: int, *codes: str) -> None:
        self.data_dir, self.port = data_dir, port
        self._output = data_dir.with_name(f"{data_dir.name}.{port}.out")
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", UP, *codes],
                env={
                    **os.environ,
                    "PYTHONPATH": str(SOURCE),
                    "PENSTOCK_DATA_DIR": str(data_dir),
                    "PENSTOCK_PORT": str(port),
                },
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    @property
    def said(self) -> str:
        return self._output.read_text()

    def ready(self) -> Up:
        until(lambda: "Penstock is up" in self.said or self.process.poll() is not None, self)
        assert self.process.poll() is None, self.said
        return self

    def pid_of(self, name: str) -> int:
        path = self.data_dir / f"{name}.pid"
        until(path.exists, self)
        until(path.read_text, self)
        return int(path.read_text())

    def postmaster(self) -> int:
        return int((self.data_dir / "pg" / "postmaster.pid").read_text().split("\n")[0])

    def healthy(self) -> bool:
        try:
            return bool(urlopen(f"http://127.0.0.1:{self.port}/health", timeout=1).status == 200)
        except OSError:
            return False

    def ended(self) -> int:
        return self.process.wait(timeout=60)


def until(true: Callable[[], object], up: Up | None = None, within_s: float = 60.0) -> None:
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, f"waited in vain; it said:\n{up.said if up else ''}"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def mentioning(data_dir: Path) -> list[int]:
    """Processes that carry this data folder in their environment or arguments."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                text = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
            except OSError:
                continue
            if os.fsencode(data_dir) in text:
                found.append(int(process.name))
    return found


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "d"


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def start_up(data_dir: Path, port: int) -> Iterator[Callable[..., Up]]:
    started: list[Up] = []

    def start(*codes: str, port: int = port) -> Up:
        started.append(Up(data_dir, port, *codes))
        return started[-1]

    yield start
    for up in started:
        if up.process.poll() is None:
            up.process.kill()
            up.process.wait()
    until(lambda: not mentioning(data_dir))


def test_comes_up_says_so_and_stops_clean(start_up: Callable[..., Up], data_dir: Path) -> None:
    began = time.monotonic()
    up = start_up(API, DEAF.replace("signal.SIG_IGN", "signal.SIG_DFL")).ready()
    print(f"up in {time.monotonic() - began:.2f} s")
    assert f"http://127.0.0.1:{up.port}" in up.said
    assert "Admin key: psk_test" in up.said
    assert "\x1b" not in up.said
    assert up.healthy()
    up.process.send_signal(signal.SIGINT)
    assert up.ended() == 0
    assert mentioning(data_dir) == []
    assert not (data_dir / "pg" / "postmaster.pid").exists()


def test_dead_children_and_postgres_are_restarted(start_up: Callable[..., Up]) -> None:
    up = start_up(API).ready()
    api, postmaster = up.pid_of("api"), up.postmaster()
    os.kill(api, signal.SIGKILL)
    until(lambda: up.pid_of("api") != api and up.healthy(), up)
    assert re.search(r"api was ended by SIGKILL; starting it again in 0\.2 s", up.said)
    os.kill(postmaster, signal.SIGKILL)
    until(lambda: "PostgreSQL was ended by SIGKILL" in up.said, up)

    def back() -> bool:
        try:
            text = (up.data_dir / "pg" / "postmaster.pid").read_text()
        except OSError:
            return False
        return text.split()[0] != str(postmaster) and "ready" in text

    until(back, up)
    up.process.send_signal(signal.SIGTERM)
    assert up.ended() == 0


def test_second_signal_kills_the_deaf(start_up: Callable[..., Up], data_dir: Path) -> None:
    up = start_up(API, DEAF).ready()
    deaf = up.pid_of("deaf")
    up.process.send_signal(signal.SIGINT)
    until(lambda: "Stopping" in up.said, up)
    assert alive(deaf)
    began = time.monotonic()
    up.process.send_signal(signal.SIGINT)
    assert up.ended() == 0
    # Without a second signal it waits for 22 seconds.
    assert time.monotonic() - began < 18, "the second signal did not hurry"
    assert "other 1 did not stop in time and is killed" in up.said
    assert mentioning(data_dir) == []


def test_killed_supervisor_leaves_nothing(start_up: Callable[..., Up], data_dir: Path) -> None:
    up = start_up(API, DEAF).ready()
    up.pid_of("deaf")
    up.process.kill()
    up.process.wait()
    until(lambda: not mentioning(data_dir), up)
    again = start_up(API).ready()
    again.process.send_signal(signal.SIGTERM)
    assert again.ended() == 0


def test_stops_while_starting(start_up: Callable[..., Up], data_dir: Path) -> None:
    up = start_up("import time; time.sleep(60)")
    until(lambda: "PostgreSQL is ready" in up.said, up)
    up.process.send_signal(signal.SIGTERM)
    assert up.ended() == 0
    assert mentioning(data_dir) == []


def test_taken_port_is_told_before_anything_starts(
    start_up: Callable[..., Up], data_dir: Path, port: int
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        up = start_up(API)
        assert up.ended() == 1
        assert f"Port {port} on 127.0.0.1 is taken by another program" in up.said
        assert "PENSTOCK_PORT" in up.said
        assert not (data_dir / "pg").exists()


def test_second_up_names_the_first(start_up: Callable[..., Up], port: int) -> None:
    first = start_up(API).ready()
    second = start_up(API)
    assert second.ended() == 1
    assert f"process {first.process.pid}" in second.said
    assert first.healthy()


def test_api_that_cannot_start(start_up: Callable[..., Up], data_dir: Path) -> None:
    up = start_up("raise SystemExit(3)")
    assert up.ended() == 1
    assert "api ended with exit code 3" in up.said
    assert "The API does not answer" in up.said
    assert mentioning(data_dir) == []


def test_lists_reach_the_children_as_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = ("127.0.0.1", "::1")
    env = child_environment(Settings(data_dir=tmp_path, trusted_proxies=given))
    monkeypatch.setenv("PENSTOCK_TRUSTED_PROXIES", env["PENSTOCK_TRUSTED_PROXIES"])
    assert Settings().trusted_proxies == given


def test_backoff_doubles_and_forgives() -> None:
    backoff = Backoff()
    assert [backoff.after(0) for _ in range(8)] == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0]
    assert backoff.after(60) == 0.2


def test_children_get_the_settings(data_dir: Path) -> None:
    given = {"data_dir": data_dir, "workers": 2, "database_url": "postgresql://u:p@h/d"}
    settings = Settings.model_validate(given)
    env = child_environment(settings)
    assert env["PENSTOCK_DATA_DIR"] == str(data_dir)
    assert env["PENSTOCK_DATABASE_URL"] == "postgresql://u:p@h/d"
    assert list(default_commands(settings)) == ["api", "worker 1", "worker 2"]


def test_addresses(port: int) -> None:
    assert base_url("0.0.0.0", 1) == "http://127.0.0.1:1"
    assert base_url("::", 1) == "http://[::1]:1"
    require_free_port("127.0.0.1", port)
    with pytest.raises(PortTaken, match="PENSTOCK_HOST"):
        require_free_port("192.0.2.1", port)


def test_external_database_starts_no_postgres(
    data_dir: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"data_dir": data_dir, "port": port, "database_url": "postgresql://u:p@h/d"}
    settings = Settings.model_validate(given)
    seen: list[str] = []

    async def prepare(addresses: Addresses) -> str:
        seen.append(addresses.owner_dsn)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(30)
        return ""

    code = asyncio.run(run_up(settings, prepare=prepare, commands={}, health_url=None))
    assert code == 0
    assert seen == ["postgresql://u:p@h/d"]
    assert not (data_dir / "pg").exists()
    assert "Stopped." in capsys.readouterr().out
