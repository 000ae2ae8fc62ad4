"""An org cannot fill the disk: quotas of files and rows, a reserve of free space."""

from __future__ import annotations

import asyncio
from base64 import b64encode

import httpx2
import pytest
from tests.api.conftest import Caller, file_of, refused, submit_noop
from tests.fixtures import Bench

from penstock.guards.disk import DiskReserve
from penstock.model.errors import Unavailable
from penstock.settings import Settings
from penstock.store import orphans
from penstock.store.accounts import usage

GOODS = b"sku,title\n1,Hammer\n2,Saw\n"


class TestQuotas:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        changes = {"quota_file_bytes": 10 * len(GOODS), "quota_rows": 50, "quota_row_bytes": 5000}
        return settings.model_copy(update=changes)

    async def test_files_beyond_the_quota_are_refused_for_that_org_alone(
        self, client: httpx2.AsyncClient, caller: Caller
    ) -> None:
        sent = [client.post("/api/files", files=file_of(GOODS)) for _ in range(15)]
        statuses = [answer.status_code for answer in await asyncio.gather(*sent)]
        assert (statuses.count(201), statuses.count(507)) == (10, 5)
        refused(await client.post("/api/jobs", files=file_of(GOODS)), 507, "STORAGE_QUOTA_EXCEEDED")
        other = await caller("other")
        assert (await other.post("/api/files", files=file_of(GOODS))).status_code == 201
        storage = (await client.get("/api/org")).json()["storage"]
        assert storage["fileBytes"] == {"used": 10 * len(GOODS), "quota": 10 * len(GOODS)}

    async def test_files_that_go_make_room(self, client: httpx2.AsyncClient, bench: Bench) -> None:
        made = [await client.post("/api/files", files=file_of(GOODS)) for _ in range(10)]
        ids = [one.json()["id"] for one in made[:4]]
        async with bench.runtime.db.transaction() as conn:
            assert len(await orphans.drop_files(conn, ids)) == 4
        statuses = [
            (await client.post("/api/files", files=file_of(GOODS))).status_code for _ in range(5)
        ]
        assert statuses == [201] * 4 + [507]

    async def test_uploads_that_are_not_whole_count(
        self, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        tus = {
            "Tus-Resumable": "1.0.0",
            "Upload-Length": str(4 * len(GOODS)),
            "Upload-Metadata": f"filename {b64encode(b'a.csv').decode()}",
        }
        statuses = [(await client.post("/api/uploads", headers=tus)).status_code for _ in range(3)]
        assert statuses == [201, 201, 507]
        monkeypatch.setattr(usage, "MOST_OPEN_UPLOADS", 3)
        small = tus | {"Upload-Length": "1"}
        statuses = [
            (await client.post("/api/uploads", headers=small)).status_code for _ in range(2)
        ]
        assert statuses == [201, 507]

    async def test_a_job_with_more_rows_than_there_is_room_for_fails_and_says_so(
        self, client: httpx2.AsyncClient, bench: Bench, caller: Caller
    ) -> None:
        fits = await submit_noop(client, config={"items": 40, "inline": False})
        await bench.work()
        assert (await client.get(f"/api/jobs/{fits}")).json()["state"] == "done"
        beyond = await submit_noop(client, config={"items": 40, "inline": False})
        await bench.work()
        job = (await client.get(f"/api/jobs/{beyond}")).json()
        assert (job["state"], job["lastError"]["code"]) == ("failed", "STORAGE_QUOTA_EXCEEDED")
        storage = (await client.get("/api/org")).json()["storage"]
        assert storage["rows"]["used"] <= 50


def test_below_the_reserve_nothing_is_taken(tmp_path: object, settings: Settings) -> None:
    free = DiskReserve(settings.data_dir, 0).free_bytes()
    DiskReserve(settings.data_dir, max(1, free // 2)).require()
    with pytest.raises(Unavailable) as refusal:
        DiskReserve(settings.data_dir, 100 * free).require()
    assert refusal.value.code == "STORAGE_FULL"


class TestFullDisk:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"disk_reserve_bytes": 2**62})

    async def test_files_and_jobs_are_refused_and_the_rest_works(
        self, client: httpx2.AsyncClient
    ) -> None:
        refused(await client.post("/api/files", files=file_of(GOODS)), 507, "STORAGE_FULL")
        refused(await client.post("/api/jobs", json={"pipeline": "noop"}), 507, "STORAGE_FULL")
        assert (await client.get("/api/jobs")).status_code == 200
