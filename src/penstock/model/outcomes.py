"""What a stage says of one item: a closed set, each with its effects and children."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.model.effects import Effect
from penstock.model.errors import ItemError
from penstock.model.json_text import JsonText, to_json


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


@dataclass(frozen=True, slots=True)
class Done(_Carries):
    """Finished: ``result`` is exactly what the grid shows and the export writes."""

    result: Mapping[str, Any]
    normalized: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Advance(_Carries):
    """This stage is done; ``normalized`` is the checkpoint the next one starts from."""

    normalized: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Retry(_Carries):
    """Try again later. ``counted=False`` is waiting (a limit, a circuit) and burns no attempt."""

    error: ItemError
    after_ms: int | None = None
    counted: bool = True


@dataclass(frozen=True, slots=True)
class NotFound(_Carries):
    """Looked for and not there; asked again later with the next variant."""

    error: ItemError = field(default_factory=lambda: ItemError("NOT_FOUND", "No match was found"))


@dataclass(frozen=True, slots=True)
class Skip(_Carries):
    """Nothing to do for this item, and why."""

    reason: str
    result: Mapping[str, Any] | None = None
    code: str = "SKIPPED"
    normalized: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Fail(_Carries):
    """Failed for good. ``result`` still shows what is known of the item."""

    error: ItemError
    result: Mapping[str, Any] | None = None
    normalized: Mapping[str, Any] | None = None


Outcome = Done | Advance | Retry | NotFound | Skip | Fail


def written_once(first: Advance, then: Outcome | None) -> Outcome:
    """What two stages said of one item, one after the other, as one outcome of the first. If the
    second did not come to an end, the item has only passed the first."""
    if not isinstance(then, Done | Skip | Fail):
        return first
    result: Any = first.result if then.result is None else then.result
    return replace(
        then,
        normalized=first.normalized if then.normalized is None else then.normalized,
        result=result,
        effects=[*first.effects, *then.effects],
        spawn=[*first.spawn, *then.spawn],
    )


def in_text(outcome: Outcome) -> Outcome:
    """The same with its documents as the JSON that will be stored, so that nobody after this has to
    take them apart again."""
    if isinstance(outcome, Retry | NotFound):
        return outcome
    return replace(outcome, normalized=_text(outcome.normalized), result=_text(outcome.result))


def _text(document: Mapping[str, Any] | None) -> Any:
    return None if document is None else JsonText(to_json(document))
