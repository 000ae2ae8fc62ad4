"""Whether all is well, for admins."""

from __future__ import annotations

from tests.api.conftest import Caller, refused, shaped, submit_noop
from tests.fixtures import Bench

from penstock.api.monitor.monitor import Monitor


async def test_it_tells_what_ended_and_who_works(bench: Bench, caller: Caller) -> None:
    admin = await caller(role="admin")
    member = await caller()
    await submit_noop(member, items=7)
    async with bench.worker():
        await bench.work()
        shown = shaped(Monitor, await admin.get("/api/monitor"))
    assert isinstance(shown, Monitor)
    assert (shown.last_hour.done, shown.last_hour.rows, shown.last_hour.success_rate) == (1, 7, 1.0)
    assert shown.last_hour.duration_ms.p50 is not None
    assert sum(one.rows for one in shown.last_hour.minutes) == shown.last_hour.rows
    assert [one.slots for one in shown.workers] == [bench.runtime.settings.worker_slots]


async def test_nothing_yet_is_said_so(caller: Caller) -> None:
    shown = shaped(Monitor, await (await caller(role="admin")).get("/api/monitor"))
    assert isinstance(shown, Monitor)
    assert (shown.last_hour.success_rate, shown.workers, shown.failures) == (None, [], [])


async def test_it_is_for_admins_alone(caller: Caller) -> None:
    for role in ("member", "viewer"):
        refused(
            await (await caller(role=role)).get("/api/monitor"), 403, "INSUFFICIENT_PERMISSIONS"
        )
