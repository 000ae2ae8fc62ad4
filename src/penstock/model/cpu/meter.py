"""Charges processor time to the request that uses it.

A request's coroutine is driven step by step, and the time of each step on the event loop is
charged. Work that it has done elsewhere, in threads, child processes or the database, calls
`charge` from the request's own task.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Generator
from contextvars import ContextVar
from time import perf_counter, thread_time
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
# Other cores than the event loop's do this work, so it counts by its part of the machine.
_OUTSIDE_WEIGHT = 1 / (os.cpu_count() or 1)


class Spending(Protocol):
    """What one request used so far."""

    def charge(self, seconds: float) -> None: ...


_current: ContextVar[Spending | None] = ContextVar("spending", default=None)


def begin_spending(spending: Spending) -> None:
    """Charge to ``spending`` what this task and the tasks it starts use."""
    _current.set(spending)


def charge(seconds: float) -> None:
    """Charge time that kept the interpreter busy."""
    spending = _current.get()
    if spending is not None:
        spending.charge(seconds)


def charge_outside(seconds: float) -> None:
    """Charge time spent outside of this interpreter: child processes, PostgreSQL, hashing."""
    charge(seconds * _OUTSIDE_WEIGHT)


def timed(work: Callable[..., T], *args: Any) -> tuple[T, float]:
    """The result of work in a thread, and the processor time it took there."""
    began = thread_time()
    return work(*args), thread_time() - began


class Metered(Generic[T]):
    """A coroutine whose steps are charged to the current spending."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work

    def __await__(self) -> Generator[Any, None, T]:
        spending = _current.get()
        if spending is None:
            return (yield from self._work.__await__())
        error: BaseException | None = None
        while True:
            began = perf_counter()
            try:
                waits_for = self._work.send(None) if error is None else self._work.throw(error)
            except StopIteration as end:
                result: T = end.value
                return result
            finally:
                spending.charge(perf_counter() - began)
            error = None
            try:
                yield waits_for
            except GeneratorExit:
                self._work.close()
                raise
            except BaseException as raised:
                error = raised


async def metered(work: Coroutine[Any, Any, T]) -> T:
    """The same coroutine, charged to the current spending; for tasks that a request starts."""
    return await Metered(work)
