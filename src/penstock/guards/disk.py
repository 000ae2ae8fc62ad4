"""Refuse new data when the disk is nearly full."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from penstock.model.errors import Unavailable

_FRESH_S = 1.0


class DiskReserve:
    """Refuses new bytes while a folder's disk has less than a reserve left, so that the database
    on it can still write."""

    def __init__(
        self, folder: Path, reserve_bytes: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._folder = folder
        self._reserve_bytes = reserve_bytes
        self._clock = clock
        self._looked_at = float("-inf")
        self._free_bytes = 0

    def require(self) -> None:
        """Raises STORAGE_FULL if less than the reserve is free."""
        if self._reserve_bytes and self.free_bytes() < self._reserve_bytes:
            raise Unavailable(
                "STORAGE_FULL",
                f"The server's disk has {self._free_bytes:,} bytes left, less than its reserve of"
                f" {self._reserve_bytes:,}. Nothing was kept; try again when there is room.",
            )

    def free_bytes(self) -> int:
        now = self._clock()
        if now - self._looked_at >= _FRESH_S:
            self._looked_at = now
            there = next(path for path in (self._folder, *self._folder.parents) if path.exists())
            found = os.statvfs(there)
            self._free_bytes = found.f_bavail * found.f_frsize
        return self._free_bytes
