"""Health as the API shows it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

from pydantic import ConfigDict, Field

from penstock.api.http.schemas import Shape
from penstock.model.backpressure import Level


def _only(*required: str) -> Callable[[dict[str, Any]], None]:
    """For the document: other members are not in every answer."""

    def mark(schema: dict[str, Any]) -> None:
        schema["required"] = list(required)

    return mark


class Health(Shape):
    """Callers without a key or a session get the status only."""

    model_config = ConfigDict(json_schema_extra=_only("status"))

    status: Literal["ok", "degraded"]
    version: str = ""
    database: Literal["ok", "unavailable"] = "ok"
    workers: int = 0
    depth: int = Field(0, description="Jobs that wait or run.")
    level: Level = Field(Level.HEALTHY, description="How full the queue is.")


class Liveness(Shape):
    status: Literal["ok"]


class Readiness(Shape):
    status: Literal["ok", "unavailable"]


class QueueHealth(Shape):
    level: Level
    depth: int = Field(
        description="Jobs waiting, active and delayed; paused and standing ones aside."
    )
    waiting: int
    active: int
    delayed: int
    oldest_waiting_ms: int = Field(description="How long the job at the front has waited.")
    workers: int
    slots: int = Field(description="Slices all workers can hold at once.")
    since: datetime | None = Field(description="Since when the queue is at this level.")
    dead_letters: int = Field(description="Open ones, of all orgs.")


class QueueMetrics(Shape):
    waiting: int
    active: int
    completed: int = Field(description="Jobs that ended well in the last hour.")
    failed: int = Field(description="Jobs that failed in the last hour, or all of whose rows did.")
    delayed: int
    total: int = Field(description="Waiting, active and delayed.")


class PublicQueueHealth(QueueHealth):
    """Callers without a key or a session get `status` and `level` only."""

    model_config = ConfigDict(json_schema_extra=_only("status", "level"))

    status: Level | Literal["paused"] = Field(
        description="The level; `paused` where all that waits is in lanes that are paused."
    )
    paused: bool
    metrics: QueueMetrics
    timestamp: datetime
    window: Literal["1h"] = Field(description="The period of `completed` and `failed`.")
