"""Rows whose key is nobody else's: what the others are need not be known before they are matched.

A file is looked through once, in the database, for rows whose key is spelled alike: of the same
letters and digits, whatever else is between them. That is coarser than the key itself, so that two
rows of one key are always alike. They wait until all rows are known; most rows need not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_letters, digits
from typing import Any

from penstock.catalog.products.duplicates import same_key
from penstock.catalog.products.matching import Names
from penstock.catalog.products.plan import Plan
from penstock.catalog.profiles.profile import Profile
from penstock.model.pipeline import AS_READ, Item, Job
from penstock.model.ports import Context
from penstock.pipelines.extraction.plan import plan_of
from penstock.pipelines.extraction.rows import GROUP

# With more of them than this, or than so large a share, waiting costs less than telling them apart.
_MAX_SIMILAR_ROWS = 20_000
_MAX_SIMILAR_SHARE = 0.2
_UNTOLD = bytes(set(range(256)) - set((ascii_letters + digits).encode()))


def spelled(text: str) -> bytes:
    """As the database compares cells: by their letters and digits of ASCII alone."""
    return text.encode("ascii", "ignore").translate(None, _UNTOLD).lower()


def key_column(plan: Plan) -> int | None:
    """Which cell the key is read from as it is written; None where there is none, or where rows are
    parts of each other. A GTIN is rewritten too often, and an id may be taken from other cells."""
    if plan.profile.key != "sku" or GROUP in plan.targets:
        return None
    return next((step.column for step in plan.steps if step.target == "identifiers.sku"), None)


async def find_alike(job: Job, ctx: Context) -> dict[str, Any] | None:
    """The rows that must wait; None if all do."""
    column = key_column(plan_of(job)[0])
    if column is None:
        return None
    rows = await ctx.catalog.rows_alike(job.id, column, _MAX_SIMILAR_ROWS, _MAX_SIMILAR_SHARE)
    return None if rows is None else {"column": column, "rows": list(rows)}


def alone(batch: Sequence[Item]) -> list[bool]:
    """Of rows that were just read, whether each may go on without the others."""
    known: dict[Any, tuple[int, frozenset[int], Profile] | None] = {}
    may_skip = []
    for item in batch:
        if item.job.id not in known:
            known[item.job.id] = _of_job(item.job)
        found = known[item.job.id]
        may_skip.append(found is not None and _is_alone(item, *found))
    return may_skip


def _of_job(job: Job) -> tuple[int, frozenset[int], Profile] | None:
    alike: Mapping[str, Any] | None = job.context.get(AS_READ)
    if alike is None:
        return None
    return alike["column"], frozenset(alike["rows"]), plan_of(job)[0].profile


def _is_alone(item: Item, column: int, alike: frozenset[int], profile: Profile) -> bool:
    names: Names = item.passed_on
    key = same_key(names.by(profile.key), profile.key)
    if key is None or item.row_no in alike or column >= len(item.input):
        return False
    # A key from elsewhere, as that of a product's first variant, was not among those compared.
    return spelled(key) == spelled(item.input[column])
