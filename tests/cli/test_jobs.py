"""Looking at jobs and controlling them while no server runs them."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.cli.conftest import Cli, Process

from penstock.cli.local_session import local_admin
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, submit
from penstock.engine.worker.loop import Worker
from penstock.model.ids import new_id
from penstock.settings import Settings
from penstock.store.jobs.claims import Served
from penstock.supervisor.postgres import EmbeddedPostgres
from penstock.wiring import open_runtime


@pytest.fixture
async def engine(served_folder: Settings) -> AsyncIterator[Runtime]:
    owner = EmbeddedPostgres(served_folder.data_dir).owner_dsn
    async with open_runtime(served_folder, owner, name="test") as runtime:
        yield runtime


async def submitted(runtime: Runtime, **config: Any) -> UUID:
    async with runtime.db.transaction() as conn:
        who = await local_admin(conn)
        return (await submit(runtime, conn, who, Order("noop", config))).job_id


async def worked(runtime: Runtime, job_id: UUID) -> None:
    async with Worker(runtime, Served(job_id=job_id), sweeps=False) as worker:
        while await worker.run_once():
            pass


async def begun(cli: Cli, job: UUID) -> Process:
    """A watch that looks at the job already, while nobody works on it."""
    watching = cli.start("jobs", "watch", str(job))
    assert watching.stderr is not None
    assert "No worker runs" in await asyncio.to_thread(watching.stderr.readline)
    return watching


async def test_jobs_are_listed_and_shown(cli: Cli, engine: Runtime) -> None:
    first = await submitted(engine, items=4, failEvery=2)
    await worked(engine, first)
    second = await submitted(engine, items=2)
    listed = cli.json("jobs", "list", "--pipeline", "noop", "--limit", "2")
    assert [job["id"] for job in listed] == [str(second), str(first)]
    assert str(first) in cli("jobs", "list", "--state", "done").stdout
    assert str(second) not in cli("jobs", "list", "--state", "done").stdout
    shown = cli.json("jobs", "show", str(first))
    assert shown["state"] == "done"
    assert shown["counters"]["error"] == 2
    assert shown["errors"] == {"VALIDATION_ERROR": 2}
    assert "VALIDATION_ERROR 2" in cli("jobs", "show", str(first)).stdout


async def test_many_jobs_are_submitted_from_json_lines(
    cli: Cli, engine: Runtime, tmp_path: Path
) -> None:
    source = tmp_path / "jobs.ndjson"
    lines = [{"pipeline": "noop", "config": {"items": n}, "name": f"line {n}"} for n in range(1, 4)]
    source.write_text("\n\n".join(json.dumps(line) for line in lines), "utf-8")
    ids = cli("jobs", "submit", str(source), "--key", "monday").stdout.split()
    assert [cli.json("jobs", "show", job)["name"] for job in ids] == ["line 1", "line 2", "line 3"]
    # The same file with the same key makes no more jobs, and the rest is told of one by one.
    again = cli.json("jobs", "submit", str(source), "--key", "monday")
    assert [(one["jobId"], one["replayed"]) for one in again] == [(job, True) for job in ids]
    source.write_text('{"pipeline": "none"}\n{"pipeline": "noop"}\n', "utf-8")
    some = cli("jobs", "submit", str(source), code=3)
    assert len(some.stdout.split()) == 1
    assert "job 1: INVALID_PARAMETERS: There is no pipeline 'none'" in some.stderr
    source.write_text("pipeline: noop", "utf-8")
    assert "line 1 is not valid JSON" in cli("jobs", "submit", str(source), code=2).stderr


async def test_pause_resume_cancel_are_done_once_and_audited(cli: Cli, engine: Runtime) -> None:
    job = await submitted(engine, items=5)
    assert cli("jobs", "pause", str(job)).stdout == "paused\n"
    again = cli.json("jobs", "pause", str(job))
    assert (again["id"], again["state"]) == (str(job), "paused")
    assert str(job) in cli("jobs", "list", "--state", "paused").stdout
    assert cli("jobs", "resume", str(job)).stdout == "queued\n"
    assert cli("jobs", "cancel", str(job)).stdout == "cancelled\n"
    # As asked for already.
    assert cli("jobs", "cancel", str(job)).stdout == "cancelled\n"
    for action in ("pause", "resume"):
        said = cli("jobs", action, str(job), code=1).stderr
        assert f"The job is cancelled: there is nothing to {action}." in said
    async with engine.db.acquire() as conn:
        audited = await conn.fetch(
            "SELECT action FROM audit WHERE target = $1 ORDER BY id", f"job:{job}"
        )
    assert [row["action"] for row in audited] == ["job.pause", "job.resume", "job.cancel"]


async def test_a_priority_is_changed(cli: Cli, engine: Runtime) -> None:
    job = await submitted(engine, items=5)
    assert cli("jobs", "priority", str(job), "high").stdout == "priority 10, queued\n"
    assert cli.json("jobs", "priority", str(job), "42")["priority"] == 42
    assert cli.json("jobs", "show", str(job))["priority"] == 42
    said = cli("jobs", "priority", str(job), "urgent", code=2).stderr
    assert said == "penstock: 'urgent' is no priority: use 0 to 100, or high, medium, low.\n"
    cli("jobs", "cancel", str(job))
    assert "no longer has an effect" in cli("jobs", "priority", str(job), "1", code=1).stderr


async def test_failed_items_run_again(cli: Cli, engine: Runtime) -> None:
    job = await submitted(engine, items=10, failEvery=3)
    await worked(engine, job)
    said = cli("jobs", "reprocess", str(job), "--row", "3", "--row", "4").stdout
    assert said == "reopened 1, left out 1; the job is queued\n"
    await worked(engine, job)
    made = cli.json("jobs", "reprocess", str(job), "--status", "ERROR", "--from-start")
    assert (made["reprocessed"], made["leftOut"], made["job"]["state"]) == (3, 0, "queued")
    await worked(engine, job)
    for _ in range(2):
        cli("jobs", "reprocess", str(job))
        await worked(engine, job)
    said = cli("jobs", "reprocess", str(job)).stdout
    assert said == "reopened 0, left out 3; the job is done\n"
    said = cli("jobs", "reprocess", str(job), "--reset-attempts").stdout
    assert said == "reopened 3; the job is queued\n"
    await worked(engine, job)
    assert "reopened 0;" in cli("jobs", "reprocess", str(job), "--code", "OTHER").stdout


def test_an_unknown_job_ends_with_4(cli: Cli) -> None:
    for action in ("show", "watch", "pause", "resume", "cancel", "reprocess"):
        assert "There is no such job" in cli("jobs", action, str(new_id()), code=4).stderr
    said = cli("jobs", "show", "abc", code=2).stderr
    assert said == ("penstock: 'abc' is no job id. `penstock jobs list` shows the ids of jobs.\n")


@pytest.mark.parametrize(("fail_every", "code"), [(0, 0), (2, 3)])
async def test_watch_waits_for_the_end(
    cli: Cli, engine: Runtime, fail_every: int, code: int
) -> None:
    job = await submitted(engine, items=4, failEvery=fail_every)
    watching = await begun(cli, job)
    await worked(engine, job)
    out, err = await asyncio.to_thread(watching.communicate, timeout=60)
    assert watching.returncode == code, err
    assert out.startswith("done: total 4")


async def test_watching_a_cancelled_job_ends_with_1(cli: Cli, engine: Runtime) -> None:
    job = await submitted(engine, items=4)
    cli("jobs", "cancel", str(job))
    assert cli.json("jobs", "watch", str(job), code=1)["state"] == "cancelled"


async def test_ctrl_c_ends_watching_and_not_the_job(cli: Cli, engine: Runtime) -> None:
    job = await submitted(engine, items=4)
    watching = await begun(cli, job)
    watching.send_signal(signal.SIGINT)
    await asyncio.to_thread(watching.communicate, timeout=60)
    assert watching.returncode == 130
    assert cli.json("jobs", "show", str(job))["state"] == "queued"


async def test_open_rows_of_many_jobs(cli: Cli, unserved_cli: Cli, engine: Runtime) -> None:
    assert "PENSTOCK_GLOBAL_PENDING" in cli("pending", code=4).stderr
    on = replace(unserved_cli, env={**unserved_cli.env, "PENSTOCK_GLOBAL_PENDING": "1"})
    job = await submitted(engine, items=3)
    found = on.json("pending", "--job", str(job))
    assert [(row["rowNo"], row["status"]) for row in found["items"]] == [
        (1, "PENDING"), (2, "PENDING"), (3, "PENDING"),
    ]  # fmt: skip
    assert found["counts"] == {"pending": 3, "processing": 0}
    assert [one["jobId"] for one in found["oldest"]] == [str(job)]
    shown = on("pending", "--all", "--pipeline", "noop", "--limit", "500")
    assert shown.stdout.count(str(job)) == 3
    assert " rows wait, 0 run." in shown.stderr
    assert str(job) not in on("pending", "--status", "PROCESSING").stdout
    await worked(engine, job)
    assert on.json("pending", "--job", str(job))["items"] == []


async def test_a_job_of_any_pipeline_is_started(cli: Cli, engine: Runtime, tmp_path: Path) -> None:
    made = cli.json("jobs", "start", "noop", "--config", '{"items": 3}', "--name", "Trial")
    await worked(engine, UUID(made["jobId"]))
    job = cli.json("jobs", "show", made["jobId"])
    assert (job["name"], job["state"], job["counters"]["done"]) == ("Trial", "done", 3)
    goods, config = tmp_path / "goods.csv", tmp_path / "config.json"
    goods.write_text("sku,title\n1,Hammer\n")
    config.write_text('{"intent": "create", "source": "acme"}')
    order = ("jobs", "start", "extraction", str(goods), "--config", f"@{config}", "--key", "one")
    first, again = (cli.json(*order)["jobId"] for _ in range(2))
    assert first == again
    await worked(engine, UUID(first))
    assert [one["sku"] for one in cli.json("products", "list")] == ["1"]
    for bad, code, said in (
        (("noop", "--config", "{"), 2, "not valid JSON"),
        (("noop", "--config", "[]"), 2, "not a JSON object"),
        (("noop", "--config", "@/nowhere.json"), 2, "Cannot read /nowhere.json"),
        (("nothing",), 2, "There is no pipeline"),
    ):
        assert said in cli("jobs", "start", *bad, code=code).stderr


async def test_standing_jobs_are_listed_on_request_only(cli: Cli, engine: Runtime) -> None:
    standing = str(await submitted(engine, items=2, standing=True))
    await worked(engine, UUID(standing))
    assert standing not in cli("jobs", "list").stdout
    [line] = [
        one for one in cli("jobs", "list", "--standing").stdout.splitlines() if standing in one
    ]
    assert "standing" in line
    assert "%" not in line
    assert "Standing: 2 of 2 done so far" in cli("jobs", "show", standing).stdout
    watching = cli.start("jobs", "watch", standing)
    assert watching.stderr is not None
    assert "never ends" in await asyncio.to_thread(watching.stderr.readline)
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=60)
    cli("jobs", "cancel", standing)
