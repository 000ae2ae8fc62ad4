"""Failpoints are for tests: an installation for work has none."""

from __future__ import annotations

import pytest

from penstock.engine.failpoints import FAILPOINT, FailpointReached
from penstock.settings import Settings
from penstock.store.database import Database
from penstock.wiring import open_runtime


async def test_failpoints_need_the_setting_of_tests(
    settings: Settings, owner_dsn: str, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FAILPOINT, "after_claim:raise")
    for_work = settings.model_copy(update={"test_pipelines": False})
    async with open_runtime(for_work, owner_dsn, name="test") as runtime:
        runtime.failpoints.reach("after_claim")
    async with open_runtime(settings, owner_dsn, name="test") as runtime:
        with pytest.raises(FailpointReached):
            runtime.failpoints.reach("after_claim")
