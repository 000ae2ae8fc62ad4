"""Dead letters as commands show them."""

from __future__ import annotations

import json
from typing import Any

from penstock.cli.printing import moment

_SHORT = 80


def short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= _SHORT else f"{line[: _SHORT - 1]}…"


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
