"""What `penstock dead-letters` does on the database, in the name of the local admin."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from penstock.cli import letter_view
from penstock.cli.errors import NOT_FOUND, USAGE, CliError
from penstock.cli.session import local_admin, opened, opened_engine, quiet_logs, transaction
from penstock.engine import dead_letters as engine
from penstock.engine.dead_letters import Asked, Done, Transaction
from penstock.engine.parts import Parts
from penstock.settings import Settings
from penstock.store import dead_letters
from penstock.store.dead_letters import Matching, Place


def matching(
    signature: str | None, code: str | None, pipeline: str | None, since: datetime | None,
    until: datetime | None,
) -> Matching:  # fmt: skip
    return Matching(signature, code, pipeline, _utc(since), _utc(until))


def require_choice(letter_id: UUID | None, which: Matching, everything: bool) -> None:
    """One letter, or some, or really all: nothing said means none of it."""
    ways = (letter_id is not None) + (which != Matching()) + everything
    if ways != 1:
        raise CliError(
            USAGE, "Name one letter by its ID, or say which by options, or all by --all."
        )


def require_reason(reason: str) -> None:
    if not reason.strip():
        raise CliError(USAGE, "Say why: --reason must not be empty.")


async def listed(state: str | None, which: Matching, limit: int) -> list[Any]:
    quiet_logs()
    async with opened(Settings()) as session, session.db.acquire() as conn:
        states = [] if state is None else [state]
        return await dead_letters.list_letters(conn, states, which, None, limit)


async def grouped(limit: int) -> list[Any]:
    quiet_logs()
    async with opened(Settings()) as session, session.db.acquire() as conn:
        return await dead_letters.list_groups(conn, None, limit)


async def found(letter_id: UUID) -> dict[str, Any]:
    quiet_logs()
    async with opened(Settings()) as session, session.db.acquire() as conn:
        row = await dead_letters.get_letter(conn, letter_id)
        if row is None:
            raise CliError(NOT_FOUND, f"There is no dead letter {letter_id}.")
        return letter_view.full_as_json(row, await dead_letters.trace_of(conn, letter_id))


async def counted(which: Matching) -> dict[str, Any]:
    quiet_logs()
    async with opened(Settings()) as session, session.db.acquire() as conn:
        return _as_json(await engine.count(conn, which), dry_run=True)


async def reprocess_one(letter_id: UUID) -> UUID:
    quiet_logs()
    async with opened_engine(Settings(), "letters", listens=False) as parts:
        async with parts.db.transaction() as conn:
            asked = Asked(await local_admin(conn))
            receipt = await engine.reprocess(parts, conn, asked, letter_id)
        await parts.broker.wake(receipt.lane)
    return receipt.job_id


async def discard_one(letter_id: UUID, reason: str) -> None:
    async with transaction() as conn:
        await engine.discard(conn, Asked(await local_admin(conn)), letter_id, reason)


async def reprocess_many(which: Matching, *, dry_run: bool) -> dict[str, Any]:
    return await _many(engine.reprocess_all, which, dry_run)


async def discard_many(which: Matching, reason: str, *, dry_run: bool) -> dict[str, Any]:
    return await _many(partial(engine.discard_all, reason=reason), which, dry_run)


async def _many(
    act: Callable[[Parts, Transaction, Asked, Matching, Place | None], Awaitable[Done]],
    which: Matching,
    dry_run: bool,
) -> dict[str, Any]:
    """Call after call until none is left that matched."""
    if dry_run:
        return await counted(which)
    quiet_logs()
    whole = Done(more=True)
    async with opened_engine(Settings(), "letters", listens=False) as parts:
        asked = await _local(parts)
        while whole.more:
            part = await act(parts, parts.db.transaction, asked, which, whole.place)
            whole.letters += part.letters
            whole.jobs += part.jobs
            whole.refused += part.refused
            whole.more, whole.place = part.more, part.place
    return _as_json(whole, dry_run=False)


async def _local(parts: Parts) -> Asked:
    async with parts.db.transaction() as conn:
        return Asked(await local_admin(conn))


def _as_json(done: Done, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dryRun": dry_run,
        "count": done.letters,
        "jobs": [str(job_id) for job_id in done.jobs],
        "refused": [
            {"id": str(letter_id), "code": error.code, "message": error.message}
            for letter_id, error in done.refused
        ],
        "more": done.more,
    }


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=UTC)
