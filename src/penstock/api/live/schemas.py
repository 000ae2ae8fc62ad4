"""Events as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import (
    Field,
)

from penstock.api.http.schemas import Shape


class EventShape(Shape):
    event: str
    job_id: UUID | None
    worker_id: str | None
    data: dict[str, Any]
    timestamp: datetime
    seq: int | None = Field(description="Numbered without gaps within the job.")


class EventPage(Shape):
    items: list[EventShape]
    next: int = Field(description="Pass as `since` to hear what happens after.")


class AllEvents(Shape):
    items: list[EventShape]
    next: str = Field(description="Pass as `since` to hear what happens after.")


class EventsQuery(Shape):
    since: int = Field(0, ge=0, le=10**18, description="Events after this number.")
    limit: int = Field(100, ge=1, le=1000)


class AllEventsQuery(Shape):
    since: str | None = Field(
        None,
        pattern=r"^(now|[0-9]{1,18}-[0-9]{1,18})$",
        description="A `next`, or `now`. A list begins at the first event without it.",
    )
    limit: int = Field(100, ge=1, le=1000)
