"""Processes of Penstock without the second that each takes to import itself.

They are forked from a process that has imported everything and does nothing else; each process of
tests has one. In all other ways they are real: they have their own memory, environment, output and
exit code, and can be stopped and killed. Other tests check that a cold start works.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

_ROOT = Path(__file__).resolve().parents[1]
_MOST_BYTES = 256 * 1024
_NUMBER = struct.Struct("=i")
_PRELOADED = ("penstock.cli", "penstock.api", "penstock.app", "penstock.engine", "penstock.client")


class WarmProcess:
    """Has the parts of `subprocess.Popen` that tests need."""

    def __init__(
        self, pid: int, status: int, stdout: IO[str] | None = None, stderr: IO[str] | None = None
    ) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdout, self.stderr = stdout, stderr
        self._status = status

    def poll(self) -> int | None:
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        code = self._look(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
        return code

    def _look(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            code = os.read(self._status, _NUMBER.size)
            os.close(self._status)
            assert code, "the process that forks the others has died"
            self.returncode = _NUMBER.unpack(code)[0]
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Both outputs to their end, then the exit code."""
        deadline = time.monotonic() + (threading.TIMEOUT_MAX if timeout is None else timeout)
        texts = ["", ""]

        def read(which: int, file: IO[str]) -> None:
            texts[which] = file.read()

        readers = [
            threading.Thread(target=read, args=(which, file), daemon=True)
            for which, file in enumerate((self.stdout, self.stderr))
            if file is not None and not file.closed
        ]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(max(0.0, deadline - time.monotonic()))
        self.wait(max(0.0, deadline - time.monotonic()))
        return texts[0], texts[1]


@dataclass(frozen=True)
class _Command:
    """What a forked process runs: a module whose ``main`` is called like a command."""

    module: str
    args: Sequence[str]
    env: Mapping[str, str]
    cwd: str


class _Starter:
    """Starts the process that all others are forked from, with the first of them."""

    def __init__(self) -> None:
        self._line: socket.socket | None = None
        self._turn = threading.Lock()

    def start(self, order: _Command, stdout: int, stderr: int) -> tuple[int, int]:
        """The pid of the new process, and the pipe that gets its exit code."""
        status, exit_code = os.pipe()
        with self._turn:
            line = self._line = self._line or self._begin()
            socket.send_fds(line, [json.dumps(vars(order)).encode()], [stdout, stderr, exit_code])
        os.close(exit_code)
        pid = os.read(status, _NUMBER.size)
        assert pid, "the process that forks the others has died"
        return _NUMBER.unpack(pid)[0], status

    def _begin(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path = os.pathsep.join([str(_ROOT / "src"), str(_ROOT)])
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.warm", str(theirs.fileno())],
                pass_fds=[theirs.fileno()], cwd=_ROOT, stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
            )  # fmt: skip

        def end() -> None:
            ours.close()
            process.wait()

        atexit.register(end)
        return ours


_starter = _Starter()


def start_process(
    module: str, *args: str, env: Mapping[str, str], cwd: Path, log: IO[bytes] | None = None
) -> WarmProcess:
    """A process with its output in ``log``, or else in pipes."""
    order = _Command(module, args, env, str(cwd))
    if log is not None:
        return WarmProcess(*_starter.start(order, log.fileno(), log.fileno()))
    out, theirs = os.pipe()
    err, theirs_too = os.pipe()
    pid, status = _starter.start(order, theirs, theirs_too)
    os.close(theirs)
    os.close(theirs_too)
    files = (os.fdopen(one, encoding="utf-8", newline="") for one in (out, err))
    return WarmProcess(pid, status, *files)


# The process that starts the others


def _serve(line: socket.socket) -> tuple[_Command, list[int]]:
    """Fork a process for each command and report its exit code. Returns in the forked process."""
    woken, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Ctrl-C ends the tests, which end this process.
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)
    children: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([line.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _report_exit_codes(children)
        if line.fileno() in ready:
            message, fds, _, _ = socket.recv_fds(line, _MOST_BYTES, 3)
            if not message:
                _kill_all(children)
            pid = os.fork()
            if pid == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.signal(signal.SIGINT, interrupted)
                return _Command(**json.loads(message)), fds
            for fd in fds[:2]:
                os.close(fd)
            children[pid] = fds[2]
            os.write(fds[2], _NUMBER.pack(pid))


def _report_exit_codes(children: dict[int, int]) -> None:
    while children:
        pid, state = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        exit_code = children.pop(pid)
        # The test may have closed the other end.
        with suppress(BrokenPipeError):
            os.write(exit_code, _NUMBER.pack(os.waitstatus_to_exitcode(state)))
        os.close(exit_code)


def _kill_all(children: Mapping[int, int]) -> NoReturn:
    for pid in children:
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGKILL)
    sys.exit()


def _become(order: _Command, fds: Sequence[int]) -> None:
    os.dup2(fds[0], 1)
    os.dup2(fds[1], 2)
    os.closerange(3, 1024)
    os.chdir(order.cwd)
    os.environ.clear()
    os.environ.update(order.env)
    if "PYTHONUNBUFFERED" in order.env:
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(write_through=True)  # type: ignore[union-attr]
    sys.argv = [order.module, *order.args]


def _preload() -> None:
    for name in _PRELOADED:
        package = importlib.import_module(name)
        for found in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(found.name)
    for name in ("uvicorn", "uvicorn.lifespan.on", "uvicorn.protocols.http.httptools_impl",
                 "uvloop", "tests.chaos.worker_main"):  # fmt: skip
        importlib.import_module(name)
    importlib.import_module("penstock.cli").command()
    # The forked processes do not collect the imported objects again.
    gc.collect()
    gc.freeze()


def _run(module: str) -> NoReturn:
    """Call ``main``, then end without tearing down all modules, which takes as long as a command.
    Threads and exit functions end as usual."""
    code: object = 0
    try:
        importlib.import_module(module).main()
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def main() -> None:
    line = socket.socket(fileno=int(sys.argv[1]))
    _preload()
    order, fds = _serve(line)
    line.detach()
    _become(order, fds)
    _run(order.module)


if __name__ == "__main__":
    main()
