"""How much an org may keep, and how much it does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """What an org keeps: bytes of its files, rows of its jobs and their bytes as they were read."""

    file_bytes: int = 0
    rows: int = 0
    row_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Quota:
    """What one org may keep; None: any amount."""

    file_bytes: int | None = None
    rows: int | None = None
    row_bytes: int | None = None
