"""Dead letters and clones from the command line."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from tests.cli.conftest import Cli
from tests.cli.test_jobs import submitted, worked

from penstock.engine import ending
from penstock.engine.runtime import Runtime
from penstock.model.errors import ItemError
from penstock.model.ids import new_id
from penstock.settings import Settings
from penstock.supervisor.postgres import EmbeddedPostgres
from penstock.wiring import open_runtime


@pytest.fixture
async def engine(served_folder: Settings) -> AsyncIterator[Runtime]:
    owner = EmbeddedPostgres(served_folder.data_dir).owner_dsn
    async with open_runtime(served_folder, owner, name="test") as runtime:
        async with runtime.db.transaction() as conn:
            await conn.execute("DELETE FROM dead_letters")
            await conn.execute("DELETE FROM dead_letter_groups")
        yield runtime


async def failed(runtime: Runtime, code: str = "JOB_TIMEOUT", message: str = "too long") -> str:
    """A job that failed for good; answers its letter."""
    job_id = await submitted(runtime, items=2)
    async with runtime.db.transaction() as conn:
        trace = "Traceback (most recent call last):\n  somewhere\n"
        await ending.fail(
            conn, job_id, ItemError(code, message, details={"n": 1}), "w", trace=trace
        )
        return str(await conn.fetchval("SELECT id FROM dead_letters WHERE job_id = $1", job_id))


async def test_letters_are_listed_grouped_and_shown(cli: Cli, engine: Runtime) -> None:
    first = await failed(engine, "A_CODE", "row 1 is wrong")
    second = await failed(engine, "A_CODE", "row 2 is wrong")
    third = await failed(engine, "B_CODE")
    assert [x["id"] for x in cli.json("dead-letters", "list")] == [third, second, first]
    assert [
        x["id"] for x in cli.json("dead-letters", "list", "--code", "A_CODE", "--limit", "1")
    ] == [second]
    assert cli.json("dead-letters", "list", "--until", "2020-01-31") == []
    assert "row 2 is wrong" in cli("dead-letters", "list").stdout
    assert cli("dead-letters", "list", "--state", "discarded").stderr == "No such dead letters.\n"
    alike, _ = cli.json("dead-letters", "groups")
    assert (alike["count"], alike["code"], alike["newestLetterId"]) == (2, "A_CODE", second)
    lines = cli("dead-letters", "groups").stdout.splitlines()
    assert lines[1].split()[:2] == [alike["signature"], "2"]
    by_group = cli.json("dead-letters", "list", "--signature", alike["signature"])
    assert [x["id"] for x in by_group] == [second, first]
    shown = cli.json("dead-letters", "show", first)
    assert (shown["details"], shown["config"]["items"]) == ({"n": 1}, 2)
    text = cli("dead-letters", "show", first).stdout
    assert "A_CODE: row 1 is wrong" in text
    assert text.endswith("Traceback (most recent call last):\n  somewhere\n")


async def test_one_is_run_again_or_discarded(cli: Cli, engine: Runtime) -> None:
    first, second = await failed(engine), await failed(engine)
    made = cli("dead-letters", "reprocess", first).stdout.strip()
    await worked(engine, UUID(made))
    job = cli.json("jobs", "show", made)
    assert (job["state"], job["priority"]) == ("done", 10)
    assert "reprocessed already" in cli("dead-letters", "reprocess", first, code=1).stderr
    assert cli.json("dead-letters", "discard", second, "--reason", "known") == {
        "id": second,
        "state": "discarded",
        "reason": "known",
    }
    assert cli.json("dead-letters", "show", second)["reason"] == "known"
    assert {x["state"] for x in cli.json("dead-letters", "list", "--state", "all")} == {
        "reprocessed",
        "discarded",
    }


async def test_many_are_counted_first_and_changed_on_request(cli: Cli, engine: Runtime) -> None:
    for n in range(3):
        await failed(engine, "A_CODE", f"row {n}")
    kept = await failed(engine, "B_CODE")
    assert cli("dead-letters", "reprocess", "--code", "A_CODE", "--dry-run").stdout == (
        "3 would be run again\n"
    )
    asked = cli("dead-letters", "reprocess", "--code", "A_CODE", code=1)
    assert "Run 3 dead letters again?" in asked.stderr
    assert len(cli.json("dead-letters", "list")) == 4
    done = cli.json("dead-letters", "reprocess", "--code", "A_CODE", "--yes")
    assert (done["count"], len(done["jobs"]), done["refused"]) == (3, 3, [])
    assert [x["id"] for x in cli.json("dead-letters", "list")] == [kept]
    many = cli("dead-letters", "discard", "--all", "--reason", "old", "--yes")
    assert many.stdout == "1 discarded\n"


async def test_a_kill_between_chunks_loses_and_doubles_nothing(
    cli: Cli, unserved_cli: Cli, engine: Runtime
) -> None:
    letter = await failed(engine)
    async with engine.db.transaction() as conn:
        copied = ", ".join(
            ("org_id, user_id, job_id, pipeline, name, config, priority, attempts, code, message",
             "signature, first_failed_at, last_failed_at")
        )  # fmt: skip
        await conn.execute(
            f"INSERT INTO dead_letters (id, {copied}) SELECT gen_random_uuid(), {copied} "
            "FROM dead_letters, generate_series(1, 149) WHERE id = $1",
            UUID(letter),
        )
        await conn.execute("UPDATE dead_letter_groups SET open = 150")
        before = await conn.fetchval("SELECT count(*) FROM jobs")
    killed = unserved_cli.start(
        "dead-letters", "reprocess", "--all", "--yes", PENSTOCK_FAILPOINT="between_chunks:kill"
    )
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    (group,) = cli.json("dead-letters", "groups")
    assert group["count"] == 50
    assert cli.json("dead-letters", "reprocess", "--all", "--yes")["count"] == 50
    async with engine.db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM jobs") == before + 150
        assert await conn.fetchval("SELECT count(DISTINCT new_job_id) FROM dead_letters") == 150


async def test_what_cannot_be_meant_is_refused(cli: Cli, engine: Runtime) -> None:
    letter = await failed(engine)
    for nonsense in ((), (letter, "--all"), ("--all", "--code", "X")):
        assert "Name one letter" in cli("dead-letters", "reprocess", *nonsense, code=2).stderr
    assert "--reason" in cli("dead-letters", "discard", letter, "--reason", " ", code=2).stderr
    cli("dead-letters", "discard", letter, code=2)
    unknown = str(new_id())
    for action in (
        ("show", unknown),
        ("reprocess", unknown),
        ("discard", unknown, "--reason", "x"),
    ):
        assert "There is no" in cli("dead-letters", *action, code=4).stderr


async def test_a_job_is_cloned(cli: Cli, engine: Runtime) -> None:
    job = await submitted(engine, items=3)
    made = cli("jobs", "clone", str(job), "--priority", "77").stdout.strip()
    shown = cli.json("jobs", "show", made)
    assert (shown["priority"], shown["config"]["items"], shown["state"]) == (77, 3, "queued")
    again = cli.json("jobs", "clone", str(job))
    assert (again["id"], again["newJobId"] == made) == (str(job), False)
    assert "There is no such job" in cli("jobs", "clone", str(new_id()), code=4).stderr
