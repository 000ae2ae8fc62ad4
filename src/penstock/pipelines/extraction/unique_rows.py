"""Find rows with a unique key: they can be matched before all other rows are known.

One query finds rows whose key cells have the same ASCII letters and digits as another row's. This
is coarser than comparing keys, so two rows with the same key are always among them. These rows
wait for the barrier; the others skip it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_letters, digits
from typing import Any

from penstock.catalog.products.comparison import same_key
from penstock.catalog.products.matching import Identifiers
from penstock.catalog.products.plan import Plan
from penstock.catalog.profiles.profile import Profile
from penstock.model.pipeline import AS_READ, Item, Job
from penstock.model.ports import Context, JobRows
from penstock.pipelines.extraction.plan import plan_of
from penstock.pipelines.extraction.rows import GROUP

# With more similar rows, or a larger share, it is cheaper to let all rows wait.
_MAX_SIMILAR_ROWS = 20_000
_MAX_SIMILAR_SHARE = 0.2
_UNTOLD = bytes(set(range(256)) - set((ascii_letters + digits).encode()))


def letters_and_digits(text: str) -> bytes:
    """ASCII letters and digits only, as the database compares cells."""
    return text.encode("ascii", "ignore").translate(None, _UNTOLD).lower()


def key_column(plan: Plan) -> int | None:
    """The cell that contains the key as it is written; None if there is none, or if rows can be
    variants of each other. GTINs are normalised too much, and an id may come from other cells."""
    if plan.profile.key != "sku" or GROUP in plan.targets:
        return None
    return next((step.column for step in plan.steps if step.target == "identifiers.sku"), None)


async def find_similar_rows(job: Job, ctx: Context) -> dict[str, Any] | None:
    """The rows that must wait for the barrier; None: all."""
    column = key_column(plan_of(job)[0])
    if column is None:
        return None
    rows = await ctx.port(JobRows).rows_alike(job.id, column, _MAX_SIMILAR_ROWS, _MAX_SIMILAR_SHARE)
    return None if rows is None else {"column": column, "rows": list(rows)}


def has_unique_key(batch: Sequence[Item]) -> list[bool]:
    """For each row, whether it may skip the barrier."""
    known: dict[Any, tuple[int, frozenset[int], Profile] | None] = {}
    may_skip = []
    for item in batch:
        if item.job.id not in known:
            known[item.job.id] = _of_job(item.job)
        found = known[item.job.id]
        may_skip.append(found is not None and _has_unique_key(item, *found))
    return may_skip


def _of_job(job: Job) -> tuple[int, frozenset[int], Profile] | None:
    alike: Mapping[str, Any] | None = job.context.get(AS_READ)
    if alike is None:
        return None
    return alike["column"], frozenset(alike["rows"]), plan_of(job)[0].profile


def _has_unique_key(item: Item, column: int, alike: frozenset[int], profile: Profile) -> bool:
    names: Identifiers = item.passed_on
    key = same_key(names.by(profile.key), profile.key)
    if key is None or item.row_no in alike or column >= len(item.input):
        return False
    # A key from another cell, such as that of a product's first variant, was not compared.
    return letters_and_digits(key) == letters_and_digits(item.input[column])
