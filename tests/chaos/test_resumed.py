"""F17: an API that is killed in the middle of an upload; the upload continues with what is on
disk."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from tests.chaos.api_process import ApiProcess

from penstock.settings import Settings
from penstock.store.database import Database

CSV = b"sku,title\n" + b"".join(b"%d,Hammer\n" % number for number in range(2000))
TUS = {"Tus-Resumable": "1.0.0"}


@pytest.fixture
async def api_process(
    settings: Settings, owner_dsn: str, db: Database, tmp_path: Path
) -> AsyncIterator[ApiProcess]:
    with ApiProcess(settings, owner_dsn, tmp_path / "api.log") as made:
        await made.admits(db)
        yield made


async def _send(client: httpx2.AsyncClient, where: str, body: bytes, offset: int) -> int:
    headers = {
        **TUS,
        "Upload-Offset": str(offset),
        "Content-Type": "application/offset+octet-stream",
    }
    answer = await client.patch(where, content=body, headers=headers)
    assert answer.status_code == 204, answer.text
    return int(answer.headers["upload-offset"])


@pytest.mark.parametrize("place", ["after_piece", "after_whole"])
async def test_an_upload_outlives_the_api(api_process: ApiProcess, place: str) -> None:
    await api_process.start(failpoint=f"{place}:kill")
    name = base64.b64encode(b"goods.csv").decode()
    begin = {**TUS, "Upload-Length": str(len(CSV)), "Upload-Metadata": f"filename {name}"}
    first = CSV if place == "after_whole" else CSV[:5000]
    async with api_process.client() as client:
        where = (await client.post("/api/uploads", headers=begin)).headers["location"]
        with pytest.raises(httpx2.TransportError):
            await _send(client, where, first, 0)
    await api_process.start()
    async with api_process.client() as client:
        offset = int((await client.head(where, headers=TUS)).headers["upload-offset"])
        assert offset == len(first)
        if offset < len(CSV):
            assert await _send(client, where, CSV[offset:], offset) == len(CSV)
        shown = (await client.get(where)).json()
        made = await client.post("/api/jobs", json={"fileId": shown["fileId"]})
        assert made.status_code == 202, made.text
        job = (await client.get(made.headers["location"])).json()
        assert job["file"]["size"] == len(CSV)
