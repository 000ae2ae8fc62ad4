"""The Python client, both kinds of it, over a real server."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import httpx2
import pytest
from tests.api.conftest import CSV, Caller
from tests.fixtures import Bench

from penstock.api.app import create_app
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
from penstock.client.resources import PATHS, Resources
from penstock.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
FIRST = "0192f0c1-7d5e-7c3a-9b1f-3f2d5a6b7c8d"
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
            receipt = penstock.submit(file_id=looked.file_id, name="spring")
            job = penstock.wait(receipt.job_id, timeout=60, check=True)
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
            assert penstock.wait(job.id, timeout=60).state == "done"

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


def test_each_list_of_the_api_is_in_the_client() -> None:
    nothing = cast(Any, SimpleNamespace(log=None, settings=Settings(), traces=None))
    document = create_app(nothing, nothing).openapi()
    lists = {
        path
        for path, route in document["paths"].items()
        if "{" not in path and "get" in route and _is_list(document, route["get"])
    }
    # Their own methods, or a part of another list.
    others = {"/api/jobs", "/api/events", "/api/fields", "/api/notifications/log"}
    others |= {"/api/connections/providers", "/api/dead-letters/groups", "/api/retention/tables"}
    assert lists - others - set(PATHS.values()) == {
        "/api/research/quota",
        "/api/research/queries",
    }
    assert set(PATHS) == set(Resources.__annotations__)


def _is_list(document: dict[str, Any], get: dict[str, Any]) -> bool:
    shown = get["responses"]["200"].get("content", {}).get("application/json", {}).get("schema", {})
    name = str(shown.get("$ref", "")).rpartition("/")[2]
    return "items" in document["components"]["schemas"].get(name, {}).get("properties", {})


async def test_lists_of_the_api_have_the_same_methods(bench: Bench, address: str, key: str) -> None:
    order = {"name": "Nightly", "cron": "@daily", "action": {"kind": "scan"}}
    async with AsyncClient(address, key) as penstock:
        made = await penstock.schedules.create(**order, time_zone="Europe/Berlin")
        assert made["timeZone"] == "Europe/Berlin"
        changed = await penstock.schedules.replace(made["id"], **order, catch_up="all")
        assert (changed["timeZone"], changed["catchUp"]) == ("UTC", "all")
        assert (await penstock.schedules.act(made["id"], "pause"))["state"] == "paused"
        runs = penstock.schedules.parts(made["id"], "runs", page_size=5)
        assert [one async for one in runs] == []

    def use() -> list[str]:
        with Client(address, key) as blocking:
            names = [one["name"] for one in blocking.schedules.list()]
            assert blocking.schedules.get(made["id"])["id"] == made["id"]
            blocking.schedules.delete(made["id"])
            with pytest.raises(NotThere):
                blocking.schedules.get(made["id"])
            return names

    assert await apart(use) == ["Nightly"]


async def test_an_import_is_undone_whole(bench: Bench, address: str, key: str) -> None:
    async with AsyncClient(address, key) as penstock:
        receipt = await penstock.submit(CSV, file_name="goods.csv", config={"intent": "create"})
        await bench.work()
        assert (await penstock.undo(receipt.job_id, dry_run=True)).deleted == 2
        assert len([one async for one in penstock.products.list()]) == 2
        undone = await penstock.undo(receipt.job_id)
        assert (undone.deleted, undone.refused, undone.more) == (2, [], False)
        assert [one async for one in penstock.products.list()] == []


def test_parts_of_an_undo_are_added_up() -> None:
    answers = [
        {
            "restored": 3,
            "deleted": 1,
            "refusedCount": 0,
            "refused": [],
            "more": True,
            "next": FIRST,
        },
        {
            "restored": 2,
            "deleted": 5,
            "refusedCount": 0,
            "refused": [],
            "more": False,
            "next": None,
        },
    ]
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.query.decode())
        return httpx2.Response(200, json=answers[len(asked) - 1])

    with Client("http://x", "k", transport=httpx2.MockTransport(answer)) as one:
        undone = one.undo(FIRST)
    assert (undone.restored, undone.deleted, undone.more) == (5, 6, False)
    assert asked == ["dryRun=false", f"dryRun=false&after={FIRST}"]


async def test_the_client_alone_needs_no_server(address: str, key: str, tmp_path: Path) -> None:
    """Built and installed as `penstock-client`, it imports neither the server nor its libraries."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    await apart(lambda: subprocess.run(build, cwd=ROOT / "client", check=True, capture_output=True))
    [wheel] = tmp_path.glob("penstock_client-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
        assert {name.partition("/")[0] for name in packed.namelist()} == {
            "penstock_client", wheel.name.removesuffix("-py3-none-any.whl") + ".dist-info"
        }  # fmt: skip
    code = (
        "import sys; from penstock_client import Client\n"
        f"print([one.name for one in Client({address!r}, {key!r}).jobs()])\n"
        "print(sorted({'penstock', 'fastapi', 'asyncpg', 'typer'} & set(sys.modules)))"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    ran = await apart(
        lambda: subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True
        )
    )
    assert (ran.stdout, ran.stderr) == ("[]\n[]\n", "")
