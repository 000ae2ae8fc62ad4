"""The Python client, both kinds of it, over a real server."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest
from tests.api.conftest import CSV, Caller
from tests.fixtures import Bench

from penstock.client import (
    ApiError,
    AsyncClient,
    Busy,
    Client,
    JobFailed,
    NotSignedIn,
    NotThere,
    Patience,
    Unreachable,
)

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
QUICK = Patience(tries=3, base_s=0.01)


@pytest.fixture
async def key(caller: Caller) -> str:
    made = await caller()
    return made.headers["authorization"].removeprefix("Bearer ")


@pytest.fixture
def address(port: int) -> str:
    return f"http://127.0.0.1:{port}"


async def apart(work: Callable[..., Any], *given: Any) -> Any:
    """Work that blocks, while the server of this test goes on."""
    return await asyncio.to_thread(work, *given)


def test_both_kinds_have_the_same_calls() -> None:
    def surface(kind: type) -> dict[str, list[str]]:
        return {
            name: [str(one) for one in inspect.signature(method).parameters.values()]
            for name, method in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_")
        }

    assert surface(Client) == surface(AsyncClient)


async def test_a_file_goes_in_and_comes_out(
    bench: Bench, address: str, key: str, tmp_path: Path
) -> None:
    def use() -> None:
        with Client(address, key) as penstock:
            looked = penstock.preview(CSV, file_name="goods.csv")
            receipt = penstock.submit(file_id=looked["fileId"], name="spring")
            job = penstock.wait(receipt.job_id, timeout=30, check=True)
            assert (job.name, job.state, job.counters.total) == ("spring", "done", 2)
            rows = list(penstock.items(job.id, page_size=1))
            assert [row.row_no for row in rows] == [1, 2]
            assert [row.status for row in rows] == ["DONE", "DONE"]
            assert job.id in [one.id for one in penstock.jobs(state=["done"], page_size=1)]
            out = penstock.export(job.id, tmp_path / "out.csv")
            assert len(out.read_text().splitlines()) == 3
            assert not list(tmp_path.glob(".*"))
            again = penstock.reprocess(job.id, statuses=["DONE"], scope="items")
            assert again.reprocessed == 2
            assert penstock.wait(job.id, timeout=30).state == "done"

    async with bench.worker() as worker:
        running = asyncio.create_task(worker.run())
        await apart(use)
        worker.stop()
        await running


async def test_a_file_on_the_web_is_fetched_by_the_server(address: str, key: str) -> None:
    """Which refuses this one: that it was asked is what the client has to do with it."""
    url = "http://127.0.0.1/goods.csv"
    async with AsyncClient(address, key) as penstock:
        for asked in (penstock.submit(url=url), penstock.preview(url=url)):
            with pytest.raises(ApiError) as caught:
                await asked
            assert (caught.value.status, caught.value.code) == (422, "URL_NOT_ALLOWED")


async def test_many_jobs_in_one_request(bench: Bench, address: str, key: str) -> None:
    orders = [{"pipeline": "noop", "config": {"items": n}} for n in (1, 2)]
    async with AsyncClient(address, key) as penstock:
        first, second, bad = await penstock.submit_many([*orders, {"pipeline": "none"}])
        assert bad.job_id is None
        assert (bad.status, (bad.error or {})["code"]) == (422, "INVALID_PARAMETERS")
        found = {job.id async for job in penstock.jobs()}
        assert found == {first.job_id, second.job_id}

    def use() -> list[int]:
        with Client(address, key) as blocking:
            return [one.status for one in blocking.submit_many(orders)]

    assert await apart(use) == [202, 202]


async def test_an_async_program_controls_a_job(bench: Bench, address: str, key: str) -> None:
    async with AsyncClient(address, key) as penstock:
        receipt = await penstock.submit(pipeline="noop", config={"items": 3}, priority="high")
        assert (await penstock.pause(receipt.job_id)).state == "paused"
        assert (await penstock.set_priority(receipt.job_id, 7)).priority == 7
        assert (await penstock.resume(receipt.job_id)).state == "queued"
        with pytest.raises(TimeoutError, match="is queued after"):
            await penstock.wait(receipt.job_id, timeout=0.05)
        assert (await penstock.cancel(receipt.job_id)).state == "cancelled"
        with pytest.raises(JobFailed, match="is cancelled"):
            await penstock.wait(receipt.job_id, check=True)
        found = [job async for job in penstock.jobs()]
        assert [job.id for job in found] == [receipt.job_id]


async def test_watch_tells_each_event_once_and_ends_with_the_job(
    bench: Bench, address: str, key: str
) -> None:
    async with AsyncClient(address, key) as penstock:
        receipt = await penstock.submit(pipeline="noop", config={"items": 3})
        await bench.work(receipt.job_id)
        seen = [event async for event in penstock.watch(receipt.job_id)]
        assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
        assert (seen[0].event, seen[-1].event) == ("job.queued", "job.completed")

        def use() -> list[int | None]:
            with Client(address, key) as blocking:
                return [event.seq for event in blocking.watch(receipt.job_id, since=1)]

        assert await apart(use) == list(range(2, len(seen) + 1))


async def test_refusals_are_errors_by_what_to_do(address: str, key: str) -> None:
    async with AsyncClient(address, "pk_wrong") as stranger:
        with pytest.raises(NotSignedIn) as refused:
            await stranger.job(UUID(int=1))
        assert refused.value.code == "AUTHENTICATION_FAILED"
    async with AsyncClient(address, key) as penstock:
        with pytest.raises(NotThere, match="NOT_FOUND: There is no such job"):
            await penstock.job(UUID(int=1))
        with pytest.raises(ApiError) as wrong:
            await penstock.submit(b"\x89PNG\r\n\x1a\n" + bytes(64), file_name="x.csv")
        assert (wrong.value.status, wrong.value.code) == (415, "UNSUPPORTED_TYPE")
        with pytest.raises(FileNotFoundError):
            await penstock.submit("/nowhere/at/all.csv")


async def test_nobody_there_is_said_after_several_tries() -> None:
    async with AsyncClient("http://127.0.0.1:9", "pk", patience=QUICK) as penstock:
        with pytest.raises(Unreachable, match="GET /api/jobs/1"):
            await penstock.job("1")


async def test_a_submit_whose_answer_is_lost_makes_one_job(
    bench: Bench, address: str, key: str
) -> None:
    class Lossy(httpx2.AsyncHTTPTransport):
        """Delivers, and loses the first answers."""

        sent = 0

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            answer = await super().handle_async_request(request)
            Lossy.sent += 1
            if Lossy.sent <= 2:
                await answer.aclose()
                raise httpx2.ReadError("cut off")
            return answer

    async with AsyncClient(address, key, patience=QUICK, transport=Lossy()) as penstock:
        receipt = await penstock.submit(CSV, file_name="goods.csv")
        found = [job.id async for job in penstock.jobs()]
    assert Lossy.sent > 3
    assert found == [receipt.job_id]


def test_patience_follows_the_server_and_spares_what_must_not_be_repeated() -> None:
    waits: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        waits.append(request.method)
        return httpx2.Response(503, headers={"Retry-After": "0"}, json={})

    with Client("http://x", "k", patience=QUICK, transport=httpx2.MockTransport(answer)) as one:
        with pytest.raises(Busy):
            one.job("1")
        assert waits == ["GET"] * 3
        with pytest.raises(Busy):
            one.reprocess("1")
        assert waits == ["GET"] * 3 + ["POST"]


async def test_the_examples_run(bench: Bench, address: str, key: str, tmp_path: Path) -> None:
    async with bench.worker() as worker:
        running = asyncio.create_task(worker.run())
        imported = await apart(
            _example, "import_file.py", tmp_path, address, key, str(EXAMPLES / "supplier.csv")
        )
        assert imported.returncode in (0, 3), imported.stderr
        assert (tmp_path / "supplier-clean.xlsx").stat().st_size > 1000
        async with AsyncClient(address, key) as penstock:
            [job] = [one async for one in penstock.jobs()]
        watched = await apart(_example, "watch_job.py", tmp_path, address, key, str(job.id))
        assert "job.completed" in watched.stdout.splitlines()[-1], watched.stderr
        fixed = await apart(
            _example, "fix_rows.py", tmp_path, address, key, str(job.id), "Price", "9,90"
        )
        assert "still wrong" in fixed.stdout, fixed.stderr
        worker.stop()
        await running


def _example(
    name: str, folder: Path, address: str, key: str, *given: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *given], cwd=folder, text=True, capture_output=True,
        timeout=60, check=False,
        env={**os.environ, "PENSTOCK_URL": address, "PENSTOCK_KEY": key},
    )  # fmt: skip
