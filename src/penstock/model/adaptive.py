"""Claim and batch sizes that adapt to measurements, within bounds. Pure."""

from __future__ import annotations

from dataclasses import dataclass

# The first claim of a stage, before its speed is known.
FIRST_CLAIM = 64
SMOOTHING = 0.3


def ewma(old: float | None, new: float, smoothing: float = SMOOTHING) -> float:
    """Exponentially weighted moving average; the first value is taken as it is."""
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
    """The number of items to claim: about ``target × safety`` of work, bounded by rows and bytes.

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


# A worker over either of these claims half as much.
BUSY_CPU = 0.85
FULL_MEMORY = 0.8


def load_factor(cpu_share: float, memory_share: float) -> float:
    """The factor by which a worker short of CPU or memory reduces its claims."""
    return 0.5 if cpu_share > BUSY_CPU or memory_share > FULL_MEMORY else 1.0


@dataclass(slots=True)
class ErrorSpike:
    """Whether a stage has too many errors among its last items. It becomes active above ``high``
    and inactive below ``low``, so that it does not flap.

    Items are counted in batches: old ones are dropped in proportion, not one by one.
    """

    high: float = 0.2
    low: float = 0.05
    window: int = 100
    # With fewer items it stays inactive.
    least: int = 20
    active: bool = False
    _items: float = 0.0
    _errors: float = 0.0

    @property
    def share(self) -> float:
        return self._errors / self._items if self._items else 0.0

    def record(self, items: int, errors: int) -> None:
        if items <= 0:
            return
        new = min(items, self.window)
        room = self.window - new
        if self._items > room:
            self._errors *= room / self._items
            self._items = float(room)
        self._items += new
        self._errors += errors * new / items
        if self.active:
            self.active = self.share >= self.low
        else:
            self.active = self._items >= self.least and self.share > self.high

    @property
    def claim_factor(self) -> float:
        """Smaller claims while the spike is active."""
        return 0.5 if self.active else 1.0

    @property
    def spacing(self) -> float:
        """Longer retry delays while the spike is active."""
        return 2.0 if self.active else 1.0


_JUDGED_ROWS = 1000


@dataclass(slots=True)
class IngestSizer:
    """Batch size of the ingest: doubles while the database is fast, shrinks when it is slow."""

    least: int = 64
    most: int = 5000
    p50_ms: float = 20
    p95_ms: float = 100
    most_bytes: int = 8 * 1024 * 1024
    rows: int = 0
    latency_ms: float | None = None
    row_bytes: float | None = None
    _errors: int = 0

    def __post_init__(self) -> None:
        self.rows = self.rows or self.least

    def batch_written(
        self, batch_ms: float, batch_rows: int, pool_wait_ms: float = 0, batch_bytes: int = 0
    ) -> int:
        """A batch was written. Latency is measured per 1,000 rows, so that larger batches do not
        look like a slow database. Below the lower target the batch size doubles, above the upper
        one it shrinks, in between it stays; but a batch of less than 1,000 rows, dominated by its
        commit, grows a little even then."""
        self._errors = 0
        if batch_rows and batch_bytes:
            self.row_bytes = ewma(self.row_bytes, batch_bytes / batch_rows)
        per_thousand = batch_ms * 1000 / max(batch_rows, _JUDGED_ROWS)
        self.latency_ms = ewma(self.latency_ms, per_thousand)
        if self.latency_ms > self.p95_ms:
            self.rows //= 2
        elif pool_wait_ms > self.p50_ms:
            self.rows = self.rows * 3 // 4
        elif batch_rows >= self.rows:
            if self.latency_ms <= self.p50_ms:
                self.rows *= 2
            elif self.rows < _JUDGED_ROWS:
                self.rows = min(_JUDGED_ROWS, self.rows + max(1, self.rows // 4))
        self.rows = max(self.least, min(self.most, self._fitting, self.rows))
        return self.rows

    @property
    def _fitting(self) -> int:
        """The number of average rows that fit into the largest batch."""
        return int(self.most_bytes / self.row_bytes) if self.row_bytes else self.most

    def error(self, chance: float) -> int:
        """A batch failed: reduce the size and return the milliseconds to wait, with jitter."""
        self._errors += 1
        self.rows = max(self.least, self.rows // 4)
        backoff = min(100 * 2 ** min(self._errors - 1, 10), 5000)
        return int(backoff * (1 + 0.5 * chance))
