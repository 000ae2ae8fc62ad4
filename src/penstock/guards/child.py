"""The code inside a child process, which `children.ChildPool` starts.

Imports little, to start quickly. A frame is a kind, a length and a content: a pickle on the way in,
the encoding of `answers` on the way out.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import os
import pickle
import resource
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from penstock.guards import sandbox
from penstock.guards.answers import encode, encode_error
from penstock.model.errors import PermanentError

FRAME = struct.Struct("!cQ")
CALL, STREAM, MORE, STOP = b"C", b"S", b"M", b"X"  # to the child
VALUE, END, ERROR = b"V", b"E", b"R"  # from the child; the answer of a call is its end
# Values of a stream that the child may produce before the first was consumed.
AHEAD = 2

PR_SET_PDEATHSIG = 1


def frame(kind: bytes, content: Any = None) -> bytes:
    payload = pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    return FRAME.pack(kind, len(payload)) + payload


def import_modules(names: list[str]) -> None:
    for name in names:
        importlib.import_module(name)


def answer_frame(kind: bytes, content: Any = None) -> bytes:
    payload = encode(content)
    return FRAME.pack(kind, len(payload)) + payload


def main(folder: str, hidden: str, *numbers: str) -> None:
    fd, parent, memory_bytes, cpu_seconds = map(int, numbers)
    _die_with(parent)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    _bound(resource.RLIMIT_AS, memory_bytes)
    _bound(resource.RLIMIT_CORE, 0)
    # Lower priority than the parent, which answers requests or holds leases.
    with contextlib.suppress(OSError):
        os.nice(5)
    # Millions of short-lived cells without cycles: run the collector seldom.
    gc.set_threshold(100_000, 20, 100)
    sandbox.enter(Path(folder), [Path(one) for one in hidden.split(":") if one])
    with socket.socket(fileno=fd) as connection:
        Child(connection, cpu_seconds).serve()


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have died before the line above.
    if os.getppid() != parent:
        sys.exit(1)


def _bound(which: int, limit: int) -> None:
    """Set the soft limit only: a hard limit could not be raised again for the next call."""
    hard = resource.getrlimit(which)[1]
    resource.setrlimit(which, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


class Child:
    def __init__(self, connection: socket.socket, cpu_seconds: int) -> None:
        self._connection = connection
        self._requests: BinaryIO = connection.makefile("rb")
        self._cpu_seconds = cpu_seconds

    def serve(self) -> None:
        """Answer requests until the parent closes the connection."""
        while True:
            kind, payload = self._read()
            if kind not in (CALL, STREAM):
                continue  # meant for a stream that had just ended
            try:
                function, args = pickle.loads(payload)  # noqa: S301 - from our parent
                if kind == CALL:
                    self._allow_cpu_time()
                    self._send(answer_frame(END, function(*args)))
                else:
                    self._stream(function, args)
            except BaseException as error:
                self._send(_error_frame(error))

    def _stream(self, function: Callable[..., Iterator[Any]], args: tuple[Any, ...]) -> None:
        values, credit = function(*args), AHEAD
        try:
            while True:
                if credit == 0:
                    if self._read()[0] == STOP:
                        break
                    credit += 1
                self._allow_cpu_time()
                try:
                    value = next(values)
                except StopIteration:
                    break
                credit -= 1
                self._send(answer_frame(VALUE, value))
        finally:
            close = getattr(values, "close", None)
            if close is not None:
                close()
        self._send(answer_frame(END))

    def _read(self) -> tuple[bytes, bytes]:
        head = self._requests.read(FRAME.size)
        if len(head) < FRAME.size:
            # The parent has ended, and there is nothing to clean up.
            os._exit(0)
        kind, length = FRAME.unpack(head)
        return kind, self._requests.read(length)

    def _send(self, data: bytes) -> None:
        try:
            self._connection.sendall(data)
        except OSError:
            os._exit(0)

    def _allow_cpu_time(self) -> None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        _bound(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + 1 + self._cpu_seconds)


def _error_frame(error: BaseException) -> bytes:
    if isinstance(error, MemoryError):
        error = PermanentError(
            "TOO_LARGE_FOR_MEMORY", "Processing this needs more memory than allowed"
        )
    try:
        payload = encode_error(error)
    except Exception:
        payload = encode_error(RuntimeError(f"{type(error).__name__}: {error!r}"))
    return FRAME.pack(ERROR, len(payload)) + payload
