"""How long things are kept: days by kind, and how many imports of a shop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError

from penstock.model.errors import BadInput
from penstock.model.pipeline import Config

Days = Annotated[float, Field(ge=0, le=36_500)]
DEFAULT_DAYS = 90.0
_DAYS = ("jobs", "items", "events", "files", "searches", "changes", "pages", "deliveries")


class RetentionOverrides(Config):
    """What an org sets; what is None is as the installation has it."""

    jobs: Days | None = Field(
        None, description="Days after its end that a job is kept with all its parts; 0: forever."
    )
    items: Days | None = Field(None, description="Rows and results of ended jobs.")
    events: Days | None = Field(None, description="Events of ended jobs.")
    files: Days | None = Field(None, description="Uploaded files of ended jobs.")
    searches: Days | None = Field(None, description="Searches of lookups.")
    changes: Days | None = Field(
        None, description="What products were before a job changed them. Without it no undo."
    )
    pages: Days | None = Field(None, description="Old versions of crawled pages.")
    deliveries: Days | None = Field(None, description="The log of webhooks.")
    done_imports: int | None = Field(
        None, ge=0, le=1_000_000, description="Finished imports kept for each shop; 0: all."
    )
    failed_imports: int | None = Field(
        None, ge=0, le=1_000_000, description="Failed imports kept for each shop; 0: all."
    )


class RetentionPolicy(Config):
    """Days by kind; 0 keeps it forever. Parts of a job are not kept longer than the job."""

    jobs: Days = DEFAULT_DAYS
    items: Days = DEFAULT_DAYS
    events: Days = DEFAULT_DAYS
    files: Days = DEFAULT_DAYS
    searches: Days = DEFAULT_DAYS
    changes: Days = DEFAULT_DAYS
    pages: Days = DEFAULT_DAYS
    deliveries: Days = DEFAULT_DAYS
    done_imports: int = Field(100, ge=0)
    failed_imports: int = Field(50, ge=0)

    def with_overrides(self, overrides: RetentionOverrides) -> RetentionPolicy:
        given = overrides.model_dump(exclude_none=True, by_alias=False)
        return self.model_copy(update=given)

    def days(self, kind: str) -> float:
        """Days that something of this kind is kept; 0: forever."""
        own: float = getattr(self, kind)
        if kind in ("jobs", "pages"):
            return own
        # A delivery is sent again from its item.
        bound = _least(self.jobs, self.items) if kind == "deliveries" else self.jobs
        return _least(own, bound)


def _least(first: float, second: float) -> float:
    """The shorter time, of which 0 is the longest."""
    return min(first or second, second or first)


def parse_policy(text: str) -> RetentionPolicy:
    """`90`, or `jobs=365 items=30 doneImports=100`: the first number is for all kinds."""
    given: dict[str, Any] = {}
    for part in text.replace(",", " ").split():
        name, equals, value = part.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            raise _refusal(part) from None
        if not equals:
            given |= dict.fromkeys(_DAYS, number)
        elif name in ("doneImports", "failedImports"):
            given[name] = int(number)
        else:
            given[name] = number
    try:
        return RetentionPolicy.model_validate(given)
    except ValidationError as error:
        raise _refusal(str(error.errors(include_url=False)[0]["loc"][0])) from error


def parse_overrides(given: Mapping[str, Any]) -> RetentionOverrides:
    return RetentionOverrides.model_validate(dict(given))


def _refusal(part: str) -> BadInput:
    known = ", ".join((*_DAYS, "doneImports", "failedImports"))
    return BadInput(
        "INVALID_PARAMETERS",
        f"PENSTOCK_RETENTION: {part[:60]!r} is not valid. Write days for all, or NAME=NUMBER with"
        f" {known}.",
    )
