"""What `penstock dead-letters` asks of the API."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from penstock.cli.connection import connected
from penstock.cli.errors import USAGE, CliError


def matching(
    signature: str | None, code: str | None, pipeline: str | None, since: datetime | None,
    until: datetime | None,
) -> dict[str, str]:  # fmt: skip
    """The filter as the API spells it."""
    given = {
        "signature": signature, "code": code, "pipeline": pipeline, "since": _utc(since),
        "until": _utc(until),
    }  # fmt: skip
    return {name: value for name, value in given.items() if value}


def require_choice(letter_id: UUID | None, which: dict[str, str], everything: bool) -> None:
    """One letter, or some, or really all: nothing said means none of it."""
    if (letter_id is not None) + bool(which) + everything != 1:
        raise CliError(
            USAGE, "Name one letter by its ID, or say which by options, or all by --all."
        )


def require_reason(reason: str) -> None:
    if not reason.strip():
        raise CliError(USAGE, "Say why: --reason must not be empty.")


async def list_letters(
    state: str | None, which: dict[str, str], limit: int
) -> list[dict[str, Any]]:
    async with connected() as penstock:
        return await penstock.first("/api/dead-letters", limit, state=state, **which)


async def grouped(limit: int) -> list[dict[str, Any]]:
    async with connected() as penstock:
        return await penstock.first("/api/dead-letters/groups", limit)


async def get_letter(letter_id: UUID) -> dict[str, Any]:
    async with connected() as penstock:
        letter: dict[str, Any] = await penstock.get(f"/api/dead-letters/{letter_id}")
        return letter


async def reprocess_one(letter_id: UUID) -> str:
    async with connected() as penstock:
        receipt = await penstock.post(f"/api/dead-letters/{letter_id}/reprocess")
        return str(receipt["jobId"])


async def discard_one(letter_id: UUID, reason: str) -> None:
    async with connected() as penstock:
        await penstock.post(f"/api/dead-letters/{letter_id}/discard", {"reason": reason})


async def many(
    action: str, which: dict[str, str], *, dry_run: bool, reason: str = ""
) -> dict[str, Any]:
    """Call after call until none is left that matched."""
    order: dict[str, Any] = {**which, "dryRun": dry_run}
    if not which:
        order["all"] = True
    if reason:
        order["reason"] = reason
    whole: dict[str, Any] = {"dryRun": dry_run, "count": 0, "jobs": [], "refused": []}
    async with connected() as penstock:
        while True:
            part = await penstock.post(f"/api/dead-letters/{action}", order)
            whole["count"] += part["count"]
            whole["jobs"] += part["jobs"]
            whole["refused"] += part["refused"]
            whole["more"] = part["more"]
            if dry_run or not part["more"]:
                return whole
            if part["next"]:
                order["after"] = part["next"]


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else moment.replace(tzinfo=moment.tzinfo or UTC).isoformat()
