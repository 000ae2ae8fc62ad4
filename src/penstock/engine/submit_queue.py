"""Submits that arrive at the same time are written together: one statement and one commit for all
of them, instead of one for each."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field

from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, Prepared, Receipt, prepare, write
from penstock.model.errors import PenstockError
from penstock.model.ticket import Ticket
from penstock.store.accounts.accounts import Principal
from penstock.store.database import CONNECTION_ERRORS, Connection, Transaction

# Jobs that one transaction writes at most, and how many of them may have files: the head of each
# file is read meanwhile.
MAX_TOGETHER = 100
MAX_FILES_TOGETHER = 10


@dataclass(frozen=True, slots=True)
class Submit:
    """A request that waits to be written, and its answer."""

    who: Principal
    order: Order
    answer: asyncio.Future[Receipt]


# Called in the transaction with the requests that became jobs.
AlsoWrite = Callable[[Connection, Sequence[tuple[Submit, Receipt]]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Channel:
    """Where submits are written. Those of the same ``group`` may share a transaction."""

    group: Hashable
    transaction: Transaction
    also_write: AlsoWrite | None = None


@dataclass(slots=True)
class SubmitQueue:
    """One transaction per group at a time. A submit that finds none under way starts at once, so
    that a single client does not wait; the others wait for the next one."""

    _runtime: Runtime
    _waiting: dict[Hashable, list[Submit]] = field(default_factory=dict)
    # Kept here, since the event loop holds only weak references to tasks.
    _running: set[asyncio.Task[None]] = field(default_factory=set)

    async def submit(self, channel: Channel, who: Principal, order: Order) -> Receipt:
        """Answers after the commit, which wakes workers."""
        answer: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.get(channel.group)
        if waiting is None:
            self._waiting[channel.group] = [Submit(who, order, answer)]
            task = asyncio.create_task(self._run(channel))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        else:
            waiting.append(Submit(who, order, answer))
        return await answer

    async def _run(self, channel: Channel) -> None:
        waiting = self._waiting[channel.group]
        try:
            while waiting:
                chosen, later = _choose([one for one in waiting if not one.answer.done()])
                waiting[:] = later
                await _write_together(self._runtime, channel, chosen)
        finally:
            del self._waiting[channel.group]
            for one in waiting:
                one.answer.cancel()


def _choose(waiting: list[Submit]) -> tuple[list[Submit], list[Submit]]:
    """Those to write now, and the rest. Two with one idempotency key are written one after the
    other, so that the second one gets the answer of the first."""
    keys: set[str] = set()
    files = 0
    chosen: list[Submit] = []
    later: list[Submit] = []
    for one in waiting:
        key = one.order.idempotency_key
        has_file = one.order.file_id is not None
        is_full = len(chosen) == MAX_TOGETHER or (has_file and files == MAX_FILES_TOGETHER)
        if is_full or (key is not None and key in keys):
            later.append(one)
            continue
        if key is not None:
            keys.add(key)
        files += has_file
        chosen.append(one)
    return chosen, later


async def _write_together(runtime: Runtime, channel: Channel, chosen: Sequence[Submit]) -> None:
    """Answer all of them. If the database refuses the whole, they are tried one by one: only the
    one that cannot be stored gets the error."""
    try:
        written = await _write(runtime, channel, chosen)
    except BaseException as error:
        # After a lost connection the jobs may have been stored: nothing is tried again.
        is_unknown = isinstance(error, CONNECTION_ERRORS) or not isinstance(error, Exception)
        if len(chosen) == 1 or is_unknown:
            for one in chosen:
                _refuse(one, error)
            if not isinstance(error, Exception):
                raise
            return
        for one in chosen:
            if not one.answer.done():
                await _write_together(runtime, channel, [one])
        return
    for one, prepared in written:
        if not one.answer.done():
            one.answer.set_result(prepared.receipt)


async def _write(
    runtime: Runtime, channel: Channel, chosen: Sequence[Submit]
) -> list[tuple[Submit, Prepared]]:
    written: list[tuple[Submit, Prepared]] = []
    notify = runtime.broker.notify_channel()
    async with channel.transaction() as conn:
        for one in chosen:
            try:
                written.append((one, await prepare(runtime, conn, one.who, one.order)))
            except PenstockError as error:
                # It has written nothing, so the others continue.
                _refuse(one, error)
        await write(conn, [prepared for _, prepared in written], notify)
        if channel.also_write is not None:
            new = [(one, prepared.receipt) for one, prepared in written if prepared.job is not None]
            await channel.also_write(conn, new)
        runtime.failpoints.reach("before_submit")
    if notify is None:
        for lane in {prepared.receipt.lane for _, prepared in written if prepared.job is not None}:
            await runtime.broker.send(Ticket(lane))
    return written


def _refuse(one: Submit, error: BaseException) -> None:
    if not one.answer.done():
        one.answer.set_exception(error)
