"""What a stage says of one item: a closed set, each with its effects and children."""

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
class Added:
    """What the item shows already, with these cells over it."""

    cells: Mapping[str, Any]


Shown = Mapping[str, Any] | Added


@transferable
@dataclass(frozen=True, slots=True)
class Child:
    """A new item of the same job. A key that the job already has is not added again."""

    key: str
    input: Any
    stage: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Carries:
    effects: Sequence[Effect] = ()
    spawn: Sequence[Child] = ()
    # Stages that the item was not held up by, beyond the one it was claimed for.
    passed: int = 0


@transferable
@dataclass(frozen=True, slots=True)
class Done(_Carries):
    """Finished: ``result`` is exactly what the grid shows and the export writes."""

    result: Shown
    normalized: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Advance(_Carries):
    """This stage is done; ``normalized`` is the checkpoint the next one starts from. ``hand`` is
    for a next stage that runs at once, and is not stored."""

    normalized: Mapping[str, Any] | None = None
    result: Shown | None = None
    hand: Any = None


def _advance(
    normalized: Any, result: Any, hand: Any, effects: Any, spawn: Any, passed: int
) -> Advance:
    return Advance(normalized, result, hand, effects=effects, spawn=spawn, passed=passed)


# Nearly every item comes out of a child like this; spelled out, it takes half the time.
register(
    Advance,
    ("normalized", "result", "hand", "effects", "spawn", "passed"),
    lambda values: _advance(*values),
)


@transferable
@dataclass(frozen=True, slots=True)
class Retry(_Carries):
    """Try again later. ``counted=False`` is waiting (a limit, a circuit) and burns no attempt."""

    error: ItemError
    after_ms: int | None = None
    counted: bool = True


@transferable
@dataclass(frozen=True, slots=True)
class NotFound(_Carries):
    """Looked for and not there; asked again later with the next variant."""

    error: ItemError = field(default_factory=lambda: ItemError("NOT_FOUND", "No match was found"))


@transferable
@dataclass(frozen=True, slots=True)
class Skip(_Carries):
    """Nothing to do for this item, and why; with ``column`` and ``details`` where a person has to
    decide."""

    reason: str
    result: Shown | None = None
    code: str = "SKIPPED"
    normalized: Mapping[str, Any] | None = None
    column: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@transferable
@dataclass(frozen=True, slots=True)
class Fail(_Carries):
    """Failed for good. ``result`` still shows what is known of the item."""

    error: ItemError
    result: Shown | None = None
    normalized: Mapping[str, Any] | None = None


Outcome = Done | Advance | Retry | NotFound | Skip | Fail


def written_once(first: Advance, then: Outcome | None, *, is_apart: bool = False) -> Outcome:
    """What two stages said of one item, one after the other, as one outcome. If the second did not
    come to an end, the item has only passed the first. One that ends in the second has ended in the
    first, as whose part it ran, unless the second ``is_apart``."""
    if then is None or isinstance(then, (Retry, NotFound)):
        return first
    result: Any = _over(first.result, then.result)
    normalized = first.normalized if then.normalized is None else then.normalized
    effects = [*first.effects, *then.effects]
    spawn = [*first.spawn, *then.spawn]
    passed = first.passed + (is_apart or isinstance(then, Advance))
    # Spelled out, since nearly every item comes this way.
    if isinstance(then, Advance):
        return _advance(normalized, result, then.hand, effects, spawn, passed)
    if isinstance(then, Done):
        return Done(result, normalized, effects=effects, spawn=spawn, passed=passed)
    return replace(
        then, normalized=normalized, result=result, effects=effects, spawn=spawn, passed=passed
    )


def _over(first: Shown | str | None, then: Shown | None) -> Shown | str | None:
    if first is None or then is None:
        return first if then is None else then
    if not isinstance(then, Added):
        return then
    if not then.cells:
        return first
    if isinstance(first, Added):
        return Added({**first.cells, **then.cells})
    if isinstance(first, str):
        return _spliced(first, then.cells)
    return {**first, **then.cells}


def _spliced(document: str, cells: Mapping[str, Any]) -> str:
    """An object that is JSON already, with more members. Where a name comes twice, PostgreSQL keeps
    the last."""
    more = to_json(cells)
    return more if document == "{}" else f"{document[:-1]},{more[1:]}"


def in_text(outcome: Outcome) -> Outcome:
    """The same with its documents as the JSON that will be stored, so that nobody after this has to
    take them apart again. Plain text: one of a class of its own takes five times as long to hand
    over."""
    if type(outcome) is Advance:
        # Spelled out, since nearly every item comes this way.
        return Advance(
            _text(outcome.normalized), _text(outcome.result), outcome.hand,
            effects=outcome.effects, spawn=outcome.spawn, passed=outcome.passed,
        )  # fmt: skip
    if isinstance(outcome, Retry | NotFound):
        return outcome
    return replace(outcome, normalized=_text(outcome.normalized), result=_text(outcome.result))


def _text(document: Shown | None) -> Any:
    return document if document is None or isinstance(document, Added) else to_json(document)


def document_json(document: Mapping[str, Any] | str) -> str:
    """Documents are no texts: one that is has been written out already."""
    return document if isinstance(document, str) else to_json(document)
