"""What a broker carries: a hint that something can be claimed, and where."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Ticket:
    """Work may be claimable in this lane. The rest says more exactly which, where it is known:
    brokers may sort by it, and a worker may claim for exactly that. Losing, doubling or reordering
    tickets changes nothing: what can be claimed is in the database."""

    lane: str
    job_id: UUID | None = None
    pipeline: str = ""
    stage: str = ""
    group: str = ""
    priority: int = 0
    delay_ms: int = 0

    @property
    def deduplication_id(self) -> str:
        """Equal for tickets that lead to the same work: one of them is enough."""
        return "|".join((self.lane, str(self.job_id or ""), self.stage, self.group))
