"""What is old and nobody's: rows of workers long gone, keys, half-made uploads."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.engine.parts import Parts
from penstock.store import workers

_HALF_MADE_SECONDS = 24 * 3600


@dataclass(frozen=True, slots=True)
class TidierConfig:
    every_ms: int = 600_000


class Tidier:
    name = "tidier"

    def __init__(self, parts: Parts, config: TidierConfig | None = None) -> None:
        self._parts = parts
        self.every_ms = (config or TidierConfig()).every_ms

    async def run_once(self) -> None:
        async with self._parts.db.transaction() as conn:
            await workers.forget(conn)
        await self._parts.blobs.sweep(_HALF_MADE_SECONDS)
