"""Outcomes: what a stage returns for an item. A closed set; each may carry effects and children."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.model.effects import Effect
from penstock.model.errors import ItemError
from penstock.model.text.json_text import to_json
from penstock.model.transfer import register, transferable


@transferable
@dataclass(frozen=True, slots=True)
class AddedCells:
    """Cells to add to the result that the item already has."""

    cells: Mapping[str, Any]


Shown = Mapping[str, Any] | AddedCells


@transferable
@dataclass(frozen=True, slots=True)
class Child:
    """A new item of the same job, unless the job already has an item with this key."""

    key: str
    input: Any
    stage: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _OutcomeBase:
    """``if_late`` is settled instead if an effect comes too late, because what its stage saw has
    changed; None: the item runs again in this stage."""

    effects: Sequence[Effect] = ()
    spawn: Sequence[Child] = ()
    if_late: Advance | None = None


@transferable
@dataclass(frozen=True, slots=True)
class Done(_OutcomeBase):
    """The item is finished. ``result`` is what the grid shows and the export writes."""

    result: Shown
    normalized: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Advance(_OutcomeBase):
    """The item goes to the next stage, which starts from the checkpoint ``normalized``."""

    normalized: Mapping[str, Any] | None = None
    result: Shown | None = None


def _advance(normalized: Any, result: Any, effects: Any, spawn: Any) -> Advance:
    return Advance(normalized, result, effects=effects, spawn=spawn)


# Most items leave a child process like this; an explicit function takes half the time.
register(Advance, ("normalized", "result", "effects", "spawn"), lambda values: _advance(*values))


@transferable
@dataclass(frozen=True, slots=True)
class Retry(_OutcomeBase):
    """Try again later. ``counted=False`` means waiting (for a limit, a circuit) without using up
    an attempt."""

    error: ItemError
    after_ms: int | None = None
    counted: bool = True


@transferable
@dataclass(frozen=True, slots=True)
class NotFound(_OutcomeBase):
    """The item was looked up and not found; tried again later with the next variant. ``final``:
    every variant was tried, so that another run would find the same."""

    error: ItemError = field(default_factory=lambda: ItemError("NOT_FOUND", "No match was found"))
    result: Shown | None = None
    final: bool = False


@transferable
@dataclass(frozen=True, slots=True)
class Skip(_OutcomeBase):
    """Nothing to do for this item. ``column`` and ``details`` are for rows that a person must
    decide about."""

    reason: str
    result: Shown | None = None
    code: str = "SKIPPED"
    normalized: Mapping[str, Any] | None = None
    column: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@transferable
@dataclass(frozen=True, slots=True)
class Fail(_OutcomeBase):
    """The item failed permanently. ``result`` shows what is known about it."""

    error: ItemError
    result: Shown | None = None
    normalized: Mapping[str, Any] | None = None


Outcome = Done | Advance | Retry | NotFound | Skip | Fail


def with_json_documents(outcome: Outcome) -> Outcome:
    """The outcome with its documents serialised to the JSON that will be stored. A plain `str`,
    because a subclass takes five times as long to transfer."""
    if type(outcome) is Advance:
        # Explicit for speed: most items take this path.
        return _advance(
            _text(outcome.normalized), _text(outcome.result), outcome.effects, outcome.spawn
        )
    if isinstance(outcome, Retry):
        return outcome
    if isinstance(outcome, NotFound):
        return replace(outcome, result=_text(outcome.result))
    return replace(outcome, normalized=_text(outcome.normalized), result=_text(outcome.result))


def _text(document: Shown | None) -> Any:
    return document if document is None or isinstance(document, AddedCells) else to_json(document)


def document_json(document: Mapping[str, Any] | str) -> str:
    """The document as JSON; a `str` is serialised already."""
    return document if isinstance(document, str) else to_json(document)
