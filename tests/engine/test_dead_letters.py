"""A job that fails for good leaves one letter; who is cancelled or recovers leaves none."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import asyncpg
import orjson
import pytest
from tests.checker.benches import Tried
from tests.checker.scenarios import claim
from tests.checker.scripted import Scripted
from tests.engine.test_endings import raising, told

from penstock.engine import ending
from penstock.engine.services.retention import LetterRetention, LetterRetentionConfig
from penstock.model.errors import BadInput, ItemError, Unavailable
from penstock.model.ids import new_id
from penstock.model.outcomes import Fail
from penstock.store.jobs import dead_letters
from penstock.wiring import background_services

pytestmark = pytest.mark.slow


@pytest.fixture
def script(scripted: dict[str, Scripted]) -> Scripted:
    return scripted["scripted"]


async def letters(tried: Tried, job_id: UUID) -> list[Any]:
    async with tried.runtime.db.acquire() as conn:
        return await conn.fetch(
            "SELECT * FROM dead_letters WHERE job_id = $1 ORDER BY last_failed_at", job_id
        )


async def groups(tried: Tried) -> dict[str, int]:
    async with tried.runtime.db.acquire() as conn:
        return {row.signature: row.open for row in await dead_letters.list_groups(conn, None, 100)}


async def test_a_permanent_failure_is_kept_with_all_that_is_known(
    tried: Tried, script: Scripted
) -> None:
    script.before_rows = raising(BadInput("UNSUPPORTED_TYPE", "row 7 is no table", row=7), at=100)
    config = {"rows": 200, "inline": False, "batch": 50}
    job_id = await tried.send(config, name="Spring list", priority=7)
    (job,) = await tried.finish(job_id)
    (letter,) = await letters(tried, job_id)
    assert (letter["org_id"], letter["user_id"]) == (tried.who.org_id, tried.who.user_id)
    assert (letter["pipeline"], letter["name"], letter["priority"]) == (
        "scripted",
        "Spring list",
        7,
    )
    assert (letter["code"], letter["message"]) == ("UNSUPPORTED_TYPE", "row 7 is no table")
    assert (letter["attempts"], letter["state"], letter["row_no"]) == (1, "open", None)
    assert orjson.loads(letter["details"]) == {"row": 7}
    assert orjson.loads(letter["config"]) == orjson.loads(job["config"])
    assert letter["first_failed_at"] == letter["last_failed_at"] <= job["finished_at"]
    assert "raise error" in letter["trace"]
    assert "BadInput" in letter["trace"]
    (event,) = await told(tried, job_id, "job.dead_lettered")
    assert event == {
        "letterId": str(letter["id"]),
        "signature": letter["signature"],
        "error": {
            "code": "UNSUPPORTED_TYPE",
            "message": "row 7 is no table",
            "details": {"row": 7},
        },
    }
    order = [e["event"] for e in await tried.events(job_id)]
    assert order.index("job.dead_lettered") < order.index("job.failed")
    assert await groups(tried) == {letter["signature"]: 1}
    await tried.is_clean()


async def test_retries_first_and_the_letter_says_since_when(tried: Tried, script: Scripted) -> None:
    script.before_rows = raising(Unavailable("BLOB_UNAVAILABLE", "storage is away"), at=50)
    job_id = await tried.send({"rows": 100, "inline": False, "batch": 50})
    (job,) = await tried.finish(job_id)
    (letter,) = await letters(tried, job_id)
    assert letter["attempts"] == 4
    assert letter["first_failed_at"] < letter["last_failed_at"]
    first = next(e for e in await tried.events(job_id) if e["event"] == "job.retrying")
    assert letter["first_failed_at"] == first["created_at"]
    assert job["first_failed_at"] is None
    await tried.is_clean()


async def test_a_failure_that_passes_leaves_no_letter(tried: Tried, script: Scripted) -> None:
    script.before_rows = raising(Unavailable("BLOB_UNAVAILABLE", "away"), at=50, times=2)
    job_id = await tried.send({"rows": 100, "inline": False, "batch": 50})
    (job,) = await tried.finish(job_id)
    assert (job["state"], job["first_failed_at"]) == ("done", None)
    assert await letters(tried, job_id) == []


async def test_failed_items_and_cancelled_jobs_leave_none(tried: Tried, script: Scripted) -> None:
    script.work = lambda item, stage, ctx: Fail(ItemError("VALIDATION_ERROR", "no"))
    failed = await tried.send({"rows": 3})
    await tried.finish(failed)
    cancelled = await tried.send({"rows": 3})
    async with tried.runtime.db.transaction() as conn:
        await ending.cancel(conn, cancelled)
    assert await letters(tried, failed) == await letters(tried, cancelled) == []
    assert await groups(tried) == {}


async def test_workers_that_died_are_counted_and_there_is_no_trace(
    tried: Tried, script: Scripted
) -> None:
    job_id = await tried.send({"rows": 100, "inline": False})
    for _ in range(3):
        async with tried.by_hand() as worker:
            assert (await claim(worker)).work.kind == "ingest"
            await tried.expire()
    await tried.finish(job_id)
    (letter,) = await letters(tried, job_id)
    assert (letter["code"], letter["attempts"], letter["trace"]) == ("WORKER_CRASHED", 3, None)
    await tried.is_clean()


async def test_the_letter_is_there_before_a_long_ending_is_over(
    tried: Tried, script: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ending, "MAX_SKIPPED_AT_ONCE", 3)
    job_id = await tried.send({"rows": 40})
    async with tried.runtime.db.transaction() as conn:
        failing = ItemError("JOB_TIMEOUT", "too long")
        assert await ending.fail(conn, job_id, failing, None) is not None
        assert await ending.fail(conn, job_id, failing, None) is None
    assert (await tried.job(job_id))["state"] == "cancelling"
    assert len(await letters(tried, job_id)) == 1
    (job,) = await tried.finish(job_id)
    assert (job["state"], len(await letters(tried, job_id))) == ("failed", 1)
    await tried.is_clean()


async def test_a_letter_and_its_failure_are_one_transaction(
    tried: Tried, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await tried.send({"rows": 3})

    async def add_letter(*args: Any, **more: Any) -> UUID:
        raise RuntimeError("no letter can be written")

    monkeypatch.setattr(dead_letters, "add_letter", add_letter)
    with pytest.raises(RuntimeError):
        async with tried.runtime.db.transaction() as conn:
            await ending.fail(conn, job_id, ItemError("JOB_TIMEOUT", "too long"), None)
    assert (await tried.job(job_id))["state"] == "queued"


async def test_texts_that_postgresql_cannot_hold_and_texts_without_end(
    tried: Tried, script: Scripted
) -> None:
    script.before_rows = raising(BadInput("UNSUPPORTED_TYPE", "a\0b\ud800" + "x" * 10**6))
    job_id = await tried.send({"rows": 3, "inline": False})
    await tried.finish(job_id)
    (letter,) = await letters(tried, job_id)
    assert letter["message"].startswith("a\ufffdb")
    assert len(letter["message"]) <= 4010
    assert len(letter["trace"]) <= 16_100


async def test_letters_are_kept_for_thirty_days_and_then_go(tried: Tried) -> None:
    kept, old = [await tried.send({"rows": 1}) for _ in range(2)], []
    for number in range(5):
        old.append(await tried.send({"rows": 1}))
        kind = f"KIND_{number % 2}"
        async with tried.runtime.db.transaction() as conn:
            await ending.fail(conn, old[-1], ItemError(kind, "so it goes"), None)
    for job_id in kept:
        async with tried.runtime.db.transaction() as conn:
            await ending.fail(conn, job_id, ItemError("KIND_0", "so it goes"), None)
    async with tried.runtime.db.transaction() as conn:
        # One of the old ones was dealt with before its time was up.
        row = await conn.fetchrow("SELECT id FROM dead_letters WHERE job_id = $1", old[0])
        assert row is not None
        await dead_letters.close_discarded(conn, [row["id"]], "known", tried.who.user_id)
        long_ago = "SET last_failed_at = now() - interval '30 days 1 second'"
        await conn.execute(f"UPDATE dead_letters {long_ago} WHERE job_id = ANY ($1)", old)
        await conn.execute(f"UPDATE dead_letter_groups {long_ago}")
    assert await LetterRetention(tried.runtime, LetterRetentionConfig(31)).run_once() == 0
    assert await LetterRetention(tried.runtime, LetterRetentionConfig(30, chunk=2)).run_once() == 5
    assert [len(await letters(tried, job_id)) for job_id in old] == [0] * 5
    assert [len(await letters(tried, job_id)) for job_id in kept] == [1, 1]
    async with tried.runtime.db.acquire() as conn:
        rest = await conn.fetch("SELECT signature, open FROM dead_letter_groups")
    assert [(row["signature"].split(":")[1], row["open"]) for row in rest] == [("KIND_0", 2)]
    assert "letter retention" in {one.name for one in background_services(tried.runtime)}


async def test_a_letter_keeps_its_file(tried: Tried) -> None:
    """Whoever removes files is held back by the database, as long as there is the letter."""
    async with tried.runtime.db.transaction() as conn:
        file_id = new_id()
        await conn.execute(
            "INSERT INTO files (id, org_id, user_id, name, media_type, sha256, size, blob_key) "
            "VALUES ($1, $2, $3, 'a.csv', 'text/csv', repeat('0', 64), 1, 'x')",
            file_id, tried.who.org_id, tried.who.user_id,
        )  # fmt: skip
        job_id = await tried.send({"rows": 1})
        await conn.execute("UPDATE jobs SET file_id = $1 WHERE id = $2", file_id, job_id)
        await ending.fail(conn, job_id, ItemError("JOB_TIMEOUT", "too long"), None)
        await conn.execute("UPDATE jobs SET file_id = NULL")
        with pytest.raises(asyncpg.ForeignKeyViolationError):
            await conn.execute("DELETE FROM files WHERE id = $1", file_id)
