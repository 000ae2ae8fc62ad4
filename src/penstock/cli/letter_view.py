"""Dead letters as commands show them."""

from __future__ import annotations

import json
from typing import Any

from penstock.cli.shown import moment
from penstock.store.database import from_json

_SHORT = 80


def short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1]}…"


def as_json(row: Any) -> dict[str, Any]:
    """The same names as the API's."""
    return {
        "id": str(row["id"]),
        "state": row["state"],
        "jobId": str(row["job_id"]),
        "rowNo": row["row_no"],
        "org": row["org"],
        "userId": row["user_id"],
        "pipeline": row["pipeline"],
        "name": row["name"],
        "fileId": None if row["file_id"] is None else str(row["file_id"]),
        "priority": row["priority"],
        "attempts": row["attempts"],
        "code": row["code"],
        "message": row["message"],
        "signature": row["signature"],
        "firstFailedAt": row["first_failed_at"],
        "lastFailedAt": row["last_failed_at"],
        "newJobId": None if row["new_job_id"] is None else str(row["new_job_id"]),
        "reason": row["reason"],
        "closedBy": row["closed_by"],
        "closedAt": row["closed_at"],
    }


def full_as_json(row: Any, trace: str | None) -> dict[str, Any]:
    return as_json(row) | {
        "config": from_json(row["config"]),
        "details": from_json(row["details"]),
        "trace": trace,
    }


def group_as_json(row: Any) -> dict[str, Any]:
    return {
        "signature": row["signature"],
        "pipeline": row["pipeline"],
        "code": row["code"],
        "message": row["message"],
        "count": row["open"],
        "firstFailedAt": row["first_failed_at"],
        "lastFailedAt": row["last_failed_at"],
        "newestLetterId": str(row["newest"]),
    }


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) if value else ""


def fields(letter: dict[str, Any]) -> list[tuple[str, Any]]:
    return [
        ("Dead letter", letter["id"]),
        ("State", letter["state"]),
        ("Job", letter["jobId"]),
        ("Name", letter["name"]),
        ("Pipeline", letter["pipeline"]),
        ("Org", letter["org"]),
        ("Error", f"{letter['code']}: {letter['message']}"),
        ("Details", _line(letter["details"])),
        ("Signature", letter["signature"]),
        ("Attempts", letter["attempts"]),
        ("First failed (UTC)", moment(letter["firstFailedAt"])),
        ("Last failed (UTC)", moment(letter["lastFailedAt"])),
        ("File", letter["fileId"]),
        ("Config", _line(letter["config"])),
        ("New job", letter["newJobId"]),
        ("Reason", letter["reason"]),
        ("Closed (UTC)", moment(letter["closedAt"])),
    ]
