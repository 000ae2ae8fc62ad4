"""Tasks that a service starts: forgotten once they end, cancelled when the service ends."""

from __future__ import annotations

import asyncio
import gc
import weakref

from penstock.engine.services.service_tasks import ServiceTasks


async def test_tasks_that_ended_are_not_kept_in_memory() -> None:
    tasks: ServiceTasks[int] = ServiceTasks()
    started: list[weakref.ref[asyncio.Task[None]]] = []
    for number in range(20):
        tasks.start(number, asyncio.sleep(0))
        started.append(weakref.ref(tasks._running[number]))
        await tasks.wait(60)
        # The callbacks of the task run after it has ended.
        await asyncio.sleep(0)
    gc.collect()
    assert not tasks
    # The last one may still be referenced by the event loop.
    assert sum(one() is not None for one in started) <= 1


async def test_a_service_that_is_cancelled_between_two_runs_leaves_no_task() -> None:
    tasks: ServiceTasks[str] = ServiceTasks()
    stopped = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(600)
        finally:
            stopped.set()

    async def service() -> None:
        tasks.start("a", work())
        await tasks.wait(0.01)
        await asyncio.sleep(600)

    running = asyncio.create_task(service())
    while "a" not in tasks:
        await asyncio.sleep(0)
    await asyncio.sleep(0.05)
    running.cancel()
    async with asyncio.timeout(60):
        await stopped.wait()
    await asyncio.sleep(0)
    assert not tasks


async def test_a_service_that_is_cancelled_while_it_waits_stops_its_tasks_first() -> None:
    tasks: ServiceTasks[str] = ServiceTasks()
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(600)
        finally:
            await asyncio.sleep(0.01)
            ended.append("work")

    async def service() -> None:
        tasks.start("a", work())
        try:
            await tasks.wait(600)
        finally:
            ended.append("service")

    running = asyncio.create_task(service())
    await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert ended == ["work", "service"]
