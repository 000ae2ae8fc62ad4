"""Messy files of our own making, one per oddity of dialect, header and surroundings; see README."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.messy.cases import Case


def _cases() -> Iterator[Case]:
    for line in (Path(__file__).parent / "survey.ndjson").read_text("utf-8").split("\n"):
        if line:
            kept = json.loads(line)
            packed = kept.get("base64")
            content = base64.b64decode(packed) if packed else kept["text"].encode()
            yield Case(f"survey: {kept['name']}", "survey", content, kept["table"])


SURVEY = list(_cases())
