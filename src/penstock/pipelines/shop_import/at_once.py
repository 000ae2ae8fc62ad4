"""Several stages in one run: products that were fetched are mapped and created in the same slice.

A claim and a settle cost more than mapping and comparing a few products. The stages stay: products
wait there that could not go on at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from penstock.model.outcomes import AddedCells, Advance, Done, Fail, Outcome, Shown, Skip
from penstock.model.pipeline import Item, StageFunction
from penstock.model.ports import Context

# Outcomes that keep what the stages before have found.
Later = TypeVar("Later", bound=Advance | Done | Fail | Skip)


def at_once(first: StageFunction, *following: StageFunction) -> StageFunction:
    """A stage that goes on with the following ones for items that advance. An item that does not
    come to its end there advances to the next stage, as if it had never gone on."""

    async def run(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
        outcomes = list(await first(batch, ctx))
        advanced = {n: one for n, one in enumerate(outcomes) if isinstance(one, Advance)}
        reached = dict(advanced)
        for stage in following:
            if not reached or ctx.time_is_up():
                break
            places = list(reached)
            items = [
                replace(batch[n], normalized=reached[n].normalized, attempts=0) for n in places
            ]
            try:
                found = await stage(items, ctx)
            except Exception as error:  # the stage itself says what is wrong, when it is run
                ctx.log.warning("products wait for the next stage", error=repr(error))
                break
            before, reached = reached, {}
            for n, outcome in zip(places, found, strict=True):
                if isinstance(outcome, Advance):
                    reached[n] = _after(before[n], outcome)
                elif isinstance(outcome, Done | Fail | Skip):
                    outcomes[n] = replace(_after(before[n], outcome), if_late=advanced[n])
        return outcomes

    return run


def _after(before: Advance, outcome: Later) -> Later:
    """The outcome of a stage, with what the stages before it have found."""
    shown: Any = _shown(before.result, outcome.result)
    return replace(
        outcome,
        effects=[*before.effects, *outcome.effects],
        spawn=[*before.spawn, *outcome.spawn],
        normalized=before.normalized if outcome.normalized is None else outcome.normalized,
        result=shown,
    )


def _shown(before: Shown | None, after: Shown | None) -> Shown | None:
    if after is None:
        return before
    if before is None or not isinstance(after, AddedCells):
        return after
    if isinstance(before, AddedCells):
        return AddedCells({**before.cells, **after.cells})
    return {**before, **after.cells}
