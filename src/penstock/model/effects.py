"""Changes a stage asks for. Stages write nothing themselves: settle does, under the fence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from uuid import UUID

from penstock.model.transfer import transferable

# Longer names of rows and products would not fit into the index that keeps them.
MAX_NAME_LENGTH = 500


@transferable
@dataclass(frozen=True, slots=True)
class Emit:
    """Write an event of the job, with the settle or not at all."""

    event: str
    data: Mapping[str, Any] = field(default_factory=dict)


@transferable
class NameRow(NamedTuple):
    """What this row calls itself (`sku:A-1`), instead of what it said before, so that a later stage
    finds rows that mean the same. ``filled`` lets it prefer the most complete one."""

    keys: Sequence[str]
    filled: int = 0


@transferable
@dataclass(frozen=True, slots=True)
class UpsertProduct:
    """Write a product exactly as given, if it still is in the version that the stage saw (None:
    there was none). If not, nothing of the item is written and its stage runs again."""

    source: str
    source_id: str
    # None, for one that is new: as `product` and `lineage` of the item's checkpoint have it.
    data: Mapping[str, Any] | None
    lineage: Mapping[str, Any] = field(default_factory=dict)
    sku: str | None = None
    gtin: str | None = None
    published: bool = True
    seen_version: int | None = None
    # All of it comes from this row; else what the row does not say keeps its lineage.
    whole: bool = False


@dataclass(frozen=True, slots=True)
class NoteDelivery:
    """Write into the log of webhooks what came of a try. One that ``failed`` for good becomes a
    dead letter; ``gone`` disables the endpoint, if it still has that URL. Without ``ms`` nothing
    was sent."""

    delivery_id: UUID
    endpoint_id: UUID
    event: str
    url: str
    host: str
    state: Literal["pending", "delivered", "failed", "dropped"]
    status: int | None = None
    ms: int | None = None
    response: str = ""
    gone: bool = False


Effect = Emit | NameRow | NoteDelivery | UpsertProduct


@dataclass(frozen=True, slots=True)
class FindMissing:
    """An effect of a job as a whole, once all its rows have ended: products of this source that no
    row named (`seen:id:…`, `seen:sku:…`, `seen:gtin:…`) are listed with the job, and taken off the
    shelf if asked."""

    source: str
    unpublish: bool = False
