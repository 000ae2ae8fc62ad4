"""Standard output that is written completely, or the command fails.

Python's own stdout loses data in two cases. Unbuffered (`PYTHONUNBUFFERED`, usual in containers) it
ignores that a signal cut a write to a full pipe short. On a non-blocking pipe, as a parent process
may pass it on, it gives up when the pipe is full.
"""

from __future__ import annotations

import io
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputIncomplete(OSError):
    """Standard output could not be written to the end, as on a full disk."""


class CompleteWriter(io.RawIOBase):
    """A file descriptor on which one write writes all of its bytes or raises."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def isatty(self) -> bool:
        return os.isatty(self._number)

    def write(self, data: ReadableBuffer, /) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        while rest:
            try:
                rest = rest[os.write(self._number, rest) :]
            except BlockingIOError:
                select.select([], [self._number], [])
            except BrokenPipeError:
                raise
            except OSError as error:
                raise OutputIncomplete(error.errno, error.strerror) from error
        return size


@contextmanager
def complete_output() -> Iterator[None]:
    """Replace stdout while a command runs, and flush it at the end: a closed pipe or a full disk
    then raises while the exit code can still be chosen."""
    before = sys.stdout
    try:
        number = before.fileno()
        before.flush()
    except (AttributeError, ValueError, OSError):
        # Not a file: tests and embedding programs put other objects there.
        yield
        return
    unbuffered = bool(before.line_buffering) or not isinstance(before.buffer, io.BufferedIOBase)
    after = io.TextIOWrapper(
        io.BufferedWriter(CompleteWriter(number)), encoding=before.encoding, errors=before.errors,
        line_buffering=unbuffered,
    )  # fmt: skip
    sys.stdout = after
    try:
        yield
    finally:
        sys.stdout = before
        after.flush()
