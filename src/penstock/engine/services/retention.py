"""Deletes dead letters, audit entries, counts of calls, rules of robots.txt and unused pictures
after their time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from penstock.engine.chunks import delete_in_chunks
from penstock.engine.runtime import Runtime
from penstock.settings import Settings
from penstock.store.accounts import audit_log
from penstock.store.catalog import pictures
from penstock.store.crawl import pages
from penstock.store.jobs import dead_letters
from penstock.store.providers import states


@dataclass(frozen=True, slots=True)
class LetterRetentionConfig:
    days: float
    every_ms: int = 3_600_000
    chunk: int = 500

    @classmethod
    def of(cls, settings: Settings) -> LetterRetentionConfig:
        return cls(settings.dead_letter_days)


class LetterRetention:
    name = "letter retention"

    def __init__(self, runtime: Runtime, config: LetterRetentionConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or LetterRetentionConfig.of(runtime.settings)
        self.every_ms = self._config.every_ms

    async def run_once(self) -> int:
        """Answers the number of deleted letters."""
        dropped = await delete_in_chunks(
            self._runtime, self._config.chunk,
            lambda conn, chunk: dead_letters.drop_old(conn, self._config.days, chunk),
        )  # fmt: skip
        async with self._runtime.db.transaction() as conn:
            await dead_letters.drop_old_groups(conn, self._config.days)
        return dropped


@dataclass(frozen=True, slots=True)
class AuditRetentionConfig:
    days: float
    every_ms: int = 3_600_000
    chunk: int = 2000

    @classmethod
    def of(cls, settings: Settings) -> AuditRetentionConfig:
        return cls(settings.audit_days)


class AuditRetention:
    name = "audit retention"

    def __init__(self, runtime: Runtime, config: AuditRetentionConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or AuditRetentionConfig.of(runtime.settings)
        self.every_ms = self._config.every_ms

    async def run_once(self) -> int:
        """Answers the number of deleted entries."""
        return await delete_in_chunks(
            self._runtime, self._config.chunk,
            lambda conn, chunk: audit_log.drop_old(conn, self._config.days, chunk),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class CallRetentionConfig:
    hours: float = 24
    every_ms: int = 3_600_000
    chunk: int = 5000


class CallRetention:
    """Drops counts of calls to providers."""

    name = "call retention"

    def __init__(self, runtime: Runtime, config: CallRetentionConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or CallRetentionConfig()
        self.every_ms = self._config.every_ms

    async def run_once(self) -> int:
        """Answers the number of deleted rows."""
        before = datetime.now(UTC) - timedelta(hours=self._config.hours)
        return await delete_in_chunks(
            self._runtime, self._config.chunk,
            lambda conn, chunk: states.drop_old_calls(conn, before, chunk),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RobotsRetentionConfig:
    every_ms: int = 3_600_000
    chunk: int = 1000


class RobotsRetention:
    """Drops rules of robots.txt that are too old to be used."""

    name = "robots retention"

    def __init__(self, runtime: Runtime, config: RobotsRetentionConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or RobotsRetentionConfig()
        self.every_ms = self._config.every_ms

    async def run_once(self) -> int:
        """Answers the number of deleted rules."""
        return await delete_in_chunks(self._runtime, self._config.chunk, pages.drop_old_robots)


@dataclass(frozen=True, slots=True)
class PictureRetentionConfig:
    unused_hours: float
    every_ms: int = 3_600_000
    chunk: int = 1000


class PictureRetention:
    """Forgets pictures that no product uses any more, so that the tidier deletes their blobs."""

    name = "picture retention"

    def __init__(self, runtime: Runtime, config: PictureRetentionConfig | None = None) -> None:
        self._runtime = runtime
        self._config = config or PictureRetentionConfig(runtime.settings.orphan_hours)
        self.every_ms = self._config.every_ms

    async def run_once(self) -> int:
        """Answers the number of deleted pictures."""
        dropped = 0
        place: tuple[int, str] | None = pictures.FIRST
        while place is not None:
            async with self._runtime.db.transaction() as conn:
                some, place = await pictures.drop_unused(
                    conn, place, self._config.unused_hours, self._config.chunk
                )
            dropped += some
        return dropped
