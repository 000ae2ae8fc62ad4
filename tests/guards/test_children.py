from __future__ import annotations

import asyncio
import operator
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from tests.guards import child_work

from penstock.guards.children import ChildPool
from penstock.model.errors import BadInput, ChildCrashed, PermanentError

MEMORY = 512 * 1024 * 1024


@pytest_asyncio.fixture
async def pool(tmp_path: Path) -> AsyncIterator[ChildPool]:
    made = ChildPool(MEMORY, cpu_seconds=5, streams=2, calls=2, folder=tmp_path / "children")
    yield made
    await made.close()


async def gone(pid: int) -> None:
    """Return once a process has ended: signalled by the kernel, not polled."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        async with asyncio.timeout(60):
            await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


async def test_a_call_answers_from_another_process_that_is_used_again(pool: ChildPool) -> None:
    assert await pool.call(operator.add, 2, 3) == 5
    first = await pool.call(child_work.pid)
    assert first != os.getpid()
    assert await pool.call(child_work.pid) == first


async def test_a_child_that_was_prepared_answers_the_first_call(pool: ChildPool) -> None:
    before = psutil.Process().children()
    pool.prepare(["colorsys"])
    pool.prepare(["colorsys"])
    [started] = set(psutil.Process().children()).difference(before)
    assert await pool.call(child_work.pid) == started.pid
    assert await pool.call(child_work.has_imported, "colorsys")


async def test_a_closed_pool_prepares_nothing(tmp_path: Path) -> None:
    pool = ChildPool(MEMORY, cpu_seconds=5, folder=tmp_path / "children")
    await pool.close()
    before = psutil.Process().children()
    pool.prepare(["colorsys"])
    assert psutil.Process().children() == before


async def test_calls_run_beside_each_other_but_never_more_than_the_size(pool: ChildPool) -> None:
    pids = await asyncio.gather(*(pool.call(child_work.pid) for _ in range(50)))
    assert 1 <= len(set(pids)) <= 2


def test_named_errors_survive_pickling() -> None:
    error = BadInput("SOME_CODE", "A message", retry_after_ms=5, line=3)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is BadInput
    assert (copy.code, copy.message, str(copy)) == ("SOME_CODE", "A message", "A message")
    assert (copy.retry_after_ms, copy.details) == (5, {"line": 3})


async def test_exceptions_come_back_as_themselves(pool: ChildPool) -> None:
    first = await pool.call(child_work.pid)
    with pytest.raises(BadInput) as refused:
        await pool.call(child_work.refuse)
    assert (refused.value.code, refused.value.details) == ("CELL_TOO_LARGE", {"line": 12})
    with pytest.raises(ZeroDivisionError):
        await pool.call(operator.truediv, 1, 0)
    with pytest.raises(RuntimeError, match="Stubborn: cannot travel"):
        await pool.call(child_work.fail_unpicklably)
    with pytest.raises(RuntimeError, match="SystemExit: 3"):
        await pool.call(child_work.end_the_process)
    assert await pool.call(child_work.pid) == first


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV", "SIGABRT"])
async def test_a_dead_child_is_told_by_its_signal_and_replaced(pool: ChildPool, name: str) -> None:
    with pytest.raises(ChildCrashed, match=name):
        await pool.call(child_work.die, signal.Signals[name])
    assert await pool.call(operator.add, 1, 1) == 2


async def test_a_child_that_leaves_is_told_by_its_status(pool: ChildPool) -> None:
    with pytest.raises(ChildCrashed, match="status 9"):
        await pool.call(child_work.leave, 9)


async def test_a_child_that_died_idle_is_not_used(pool: ChildPool) -> None:
    first = await pool.call(child_work.pid)
    os.kill(first, signal.SIGKILL)
    await gone(first)
    assert await pool.call(child_work.pid) != first


async def test_memory_is_bounded(pool: ChildPool) -> None:
    first = await pool.call(child_work.pid)
    with pytest.raises(PermanentError) as refused:
        await pool.call(child_work.take_memory, 2 * MEMORY)
    assert refused.value.code == "TOO_LARGE_FOR_MEMORY"
    assert await pool.call(child_work.pid) != first


async def test_processor_time_is_bounded_anew_for_each_call() -> None:
    pool = ChildPool(MEMORY, cpu_seconds=0)
    try:
        with pytest.raises(PermanentError) as refused:
            await pool.call(child_work.burn_forever)
        assert refused.value.code == "TOO_SLOW"
        assert await pool.call(operator.add, 1, 1) == 2
    finally:
        await pool.close()


async def test_time_is_bounded() -> None:
    pool = ChildPool(MEMORY, cpu_seconds=5, wall_seconds=0.3)
    try:
        with pytest.raises(PermanentError, match=r"more than 0\.3 s"):
            await pool.call(child_work.hang_forever)
    finally:
        await pool.close()


async def test_a_cancelled_call_ends_its_child(pool: ChildPool) -> None:
    child = await pool.call(child_work.pid)
    call = asyncio.create_task(pool.call(child_work.hang_forever))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await gone(child)
    assert await pool.call(operator.add, 1, 1) == 2


async def test_a_stream_yields_all_values_in_order(pool: ChildPool) -> None:
    values = [value async for value in pool.stream(child_work.count, 100)]
    assert values == list(range(100))


async def test_a_stream_stays_at_most_two_values_ahead(pool: ChildPool, tmp_path: Path) -> None:
    async with aclosing(pool.stream(child_work.count, 1000)) as stream:
        async for value in stream:
            (log,) = (tmp_path / "children").glob("child-*/tmp/log")
            # Its turn: any other call proves that the first child had time to run ahead.
            await pool.call(operator.add, 1, 1)
            assert len(log.read_text().split()) <= value + 1 + 2
            if value == 20:
                break


async def test_leaving_a_stream_closes_the_generator_and_keeps_the_child(
    pool: ChildPool,
) -> None:
    child = await pool.call(child_work.pid)
    async with aclosing(pool.stream(child_work.count, 1000)) as stream:
        assert await anext(stream) == 0
    assert (await pool.call(child_work.noted))[-1] == "closed"
    assert await pool.call(child_work.pid) == child


async def test_a_stream_tells_of_errors_and_death_after_the_values(pool: ChildPool) -> None:
    dying, refusing = pool.stream(child_work.two_then_die), pool.stream(child_work.one_then_refuse)
    assert [await anext(dying), await anext(dying)] == [1, 2]
    with pytest.raises(ChildCrashed, match="SIGKILL"):
        await anext(dying)
    assert await anext(refusing) == 1
    with pytest.raises(BadInput):
        await anext(refusing)


async def test_values_larger_than_any_buffer_pass(pool: ChildPool) -> None:
    sizes = [len(value) async for value in pool.stream(child_work.wide_values, 5, 3_000_000)]
    assert sizes == [3_000_000] * 5
    assert len(await pool.call(bytes, 5_000_000)) == 5_000_000


async def test_closing_leaves_no_process() -> None:
    pool = ChildPool(MEMORY, cpu_seconds=5, streams=2, calls=2)
    children = set(await asyncio.gather(*(pool.call(child_work.pid) for _ in range(10))))
    busy = asyncio.create_task(pool.call(child_work.hang_forever))
    await asyncio.sleep(0)
    await pool.close()
    with pytest.raises(ChildCrashed):
        await busy
    assert not any(psutil.pid_exists(pid) for pid in children)
    with pytest.raises(RuntimeError, match="closed"):
        await pool.call(operator.add, 1, 1)


async def test_children_know_no_settings_and_ignore_the_terminal(
    pool: ChildPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_DATABASE_URL", "postgresql://secret")
    assert "PENSTOCK_DATABASE_URL" not in await pool.call(child_work.environment)
    assert await pool.call(child_work.ignored_signals) == [True, True]
    assert os.getpgid(await pool.call(child_work.pid)) != os.getpgid(0)


async def test_children_start_beside_running_threads(pool: ChildPool) -> None:
    ready, stop = threading.Event(), threading.Event()

    def wait() -> None:
        ready.set()
        stop.wait()

    thread = threading.Thread(target=wait)
    thread.start()
    ready.wait()
    try:
        assert await pool.call(operator.add, 1, 1) == 2
    finally:
        stop.set()
        thread.join()


PARENT = """
import asyncio, sys
from penstock.guards.children import ChildPool
from tests.guards import child_work

async def main():
    pool = ChildPool(1 << 29, 30)
    print(await pool.call(child_work.pid), flush=True)
    busy = asyncio.create_task(pool.call(child_work.burn_forever))
    await busy

asyncio.run(main())
"""


async def test_children_die_with_a_killed_parent() -> None:
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, stdout=subprocess.PIPE, env=environment
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    parent.kill()
    await parent.wait()
    await gone(child)


async def test_an_owner_whose_child_dies_gets_a_new_one_and_not_that_of_another(
    pool: ChildPool,
) -> None:
    quiet, rough = pool.for_owner("quiet"), pool.for_owner("rough")
    held = asyncio.create_task(rough.call(child_work.die, signal.SIGKILL))
    own = await quiet.call(child_work.pid)
    with pytest.raises(ChildCrashed):
        await held
    for _ in range(3):
        assert await rough.call(child_work.pid) != own
        with pytest.raises(ChildCrashed):
            await rough.call(child_work.die, signal.SIGKILL)
        assert await quiet.call(child_work.pid) == own


async def test_a_caller_that_gives_up_leaves_a_child_that_is_still_importing(
    pool: ChildPool,
) -> None:
    quiet, rough = pool.for_owner("quiet"), pool.for_owner("rough")
    held = asyncio.create_task(rough.call(child_work.die, signal.SIGKILL))
    await quiet.call(child_work.pid)
    with pytest.raises(ChildCrashed):
        await held
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await rough.call(child_work.pid)
    first = await rough.call(child_work.pid)
    assert await rough.call(child_work.pid) == first
