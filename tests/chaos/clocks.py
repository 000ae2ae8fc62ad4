"""Sets the time of day of one process, for tests with wrong clocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.tools import FAKETIME


@dataclass(frozen=True)
class Clock:
    """The time of day of one process. It may jump like a real clock; the monotonic clock does
    not."""

    file: Path

    def jump(self, seconds: int) -> None:
        draft = self.file.with_suffix(".new")
        draft.write_text(f"{seconds:+d}\n")
        draft.chmod(0o644)
        draft.replace(self.file)

    @property
    def env(self) -> Mapping[str, str]:
        return {
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
        }
