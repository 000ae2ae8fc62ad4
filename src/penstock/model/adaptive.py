"""Sizes that follow what is measured, inside bounds. Pure."""

from __future__ import annotations

from dataclasses import dataclass

# Before anything is known of a stage: large enough to learn from, small enough to lose.
FIRST_CLAIM = 64
SMOOTHING = 0.3


def ewma(old: float | None, new: float, smoothing: float = SMOOTHING) -> float:
    """Exponentially weighted mean; the first value stands for itself."""
    return new if old is None else old + smoothing * (new - old)


@dataclass(frozen=True, slots=True)
class ClaimBounds:
    target_ms: float = 5000
    safety: float = 0.7
    least: int = 1
    most: int = 2000
    most_bytes: int = 16 * 1024 * 1024


def claim_size(
    bounds: ClaimBounds, item_ms: float | None, item_bytes: float | None, pressure: float = 1.0
) -> int:
    """How many items to claim: about ``target × safety`` of work, bounded by rows and bytes.

    ``pressure`` in (0, 1] shrinks the claim of a worker that is short of CPU or memory.
    """
    if item_ms is None:
        wanted = float(FIRST_CLAIM)
    elif item_ms <= 0:
        wanted = float(bounds.most)
    else:
        wanted = bounds.target_ms * bounds.safety / item_ms
    if item_bytes:
        wanted = min(wanted, bounds.most_bytes / item_bytes)
    return int(max(bounds.least, min(bounds.most, wanted) * pressure))


def lease_ms(expected_ms: float, floor_ms: int, cap_ms: int) -> int:
    """Twice the expected slice time, inside the bounds."""
    return int(max(floor_ms, min(cap_ms, 2 * expected_ms)))


@dataclass(slots=True)
class IngestSizer:
    """Batch size of the ingest: doubles while all is calm, shrinks when the database labours."""

    least: int = 64
    most: int = 5000
    p50_ms: float = 20
    p95_ms: float = 100
    rows: int = 0
    latency_ms: float | None = None
    _errors: int = 0

    def __post_init__(self) -> None:
        self.rows = self.rows or self.least

    def calm(self, batch_ms: float, batch_rows: int, pool_wait_ms: float = 0) -> int:
        """A batch was written. The latency is judged per 1,000 rows, so that larger batches,
        which take longer as a whole, are not mistaken for a slow database."""
        self._errors = 0
        per_thousand = batch_ms * 1000 / max(batch_rows, 1000)
        self.latency_ms = ewma(self.latency_ms, per_thousand)
        if self.latency_ms > self.p95_ms:
            self.rows //= 2
        elif pool_wait_ms > self.p50_ms:
            self.rows = self.rows * 3 // 4
        elif self.latency_ms <= self.p50_ms and batch_rows >= self.rows:
            self.rows *= 2
        self.rows = max(self.least, min(self.most, self.rows))
        return self.rows

    def error(self, chance: float) -> int:
        """A batch failed: shrink hard and answer how many milliseconds to wait, with jitter."""
        self._errors += 1
        self.rows = max(self.least, self.rows // 4)
        backoff = min(100 * 2 ** min(self._errors - 1, 10), 5000)
        return int(backoff * (1 + 0.5 * chance))
