"""What the children of the tests run. Imports little, since every child imports it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from penstock.model.errors import BadInput


def pid() -> int:
    return os.getpid()


def has_imported(module: str) -> bool:
    return module in sys.modules


def die(number: int) -> None:
    os.kill(os.getpid(), number)


def leave(status: int) -> None:
    os._exit(status)


def refuse() -> NoReturn:
    raise BadInput("CELL_TOO_LARGE", "Too large", retry_after_ms=7, line=12)


class Stubborn(Exception):
    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def fail_unpicklably() -> NoReturn:
    raise Stubborn("cannot ", "travel")


def end_the_process() -> NoReturn:
    raise SystemExit(3)


def take_memory(size: int) -> int:
    return len(bytearray(size))


def burn_forever() -> NoReturn:
    while True:
        pass


def hang_forever() -> NoReturn:
    while True:
        time.sleep(60)


def environment() -> dict[str, str]:
    return dict(os.environ)


def ignored_signals() -> list[bool]:
    return [
        signal.getsignal(number) == signal.SIG_IGN for number in (signal.SIGINT, signal.SIGTERM)
    ]


NOTED: list[str] = []


def noted() -> list[str]:
    return NOTED


def count(most: int) -> Iterator[int]:
    """Numbers, each noted when it is made, in the child's own folder; the end is noted too."""
    place = Path(os.environ["TMPDIR"], "log")
    made = NOTED
    try:
        for number in range(most):
            made.append(str(number))
            place.write_text(" ".join(made))
            yield number
    finally:
        made.append("closed")


def two_then_die() -> Iterator[int]:
    yield 1
    yield 2
    die(signal.SIGKILL)


def one_then_refuse() -> Iterator[int]:
    yield 1
    refuse()


def wide_values(values: int, size: int) -> Iterator[bytes]:
    for _ in range(values):
        yield bytes(size)
