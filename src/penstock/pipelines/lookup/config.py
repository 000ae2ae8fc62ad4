"""What a lookup is asked for."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, field_validator, model_validator

from penstock.catalog.lookup.gaps import DEFAULT_FIELDS, field_to_fill
from penstock.catalog.lookup.scoring import Thresholds
from penstock.model.pipeline import Config
from penstock.pipelines.extraction.file_rows import ReadingConfig

MAX_ROWS = 1000
Cell = Annotated[str, Field(max_length=2000)] | int | float | None
SourceName = Annotated[str, Field(min_length=1, max_length=63)]
ColumnName = Annotated[str, Field(min_length=1, max_length=200)]


class EnrichConfig(Config):
    """Look up the products of a job, to fill gaps in them."""

    job_id: UUID = Field(description="The job whose products are looked up.")
    fields: tuple[str, ...] = Field(
        DEFAULT_FIELDS, min_length=1, max_length=20, description="Fields that may be filled."
    )

    @field_validator("fields")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(field_to_fill(name) for name in names))


class LookupConfig(ReadingConfig):
    """What is looked up: the rows or pictures of the job's files, ``rows``, or the products of
    another job (``enrich``)."""

    enrich: EnrichConfig | None = Field(
        None, description="Look up products of another job, to propose what they lack."
    )

    rows: tuple[dict[ColumnName, Cell], ...] | None = Field(
        None,
        min_length=1,
        max_length=MAX_ROWS,
        description="Rows to look up, instead of a file: cells by the names of their columns.",
    )
    profile: str | None = Field(None, max_length=100, description="A saved profile, by name.")
    mapping: dict[str, str | None] | None = Field(
        None,
        description="Column to field; null keeps it as a custom field, `ignore` leaves it out.",
    )
    catalog_source: str | None = Field(
        None, max_length=100, description="Search only products of this source of the catalog."
    )
    sources: tuple[SourceName, ...] | None = Field(
        None,
        max_length=50,
        description="Sources to ask where the catalog has no match, by name; without it all that"
        " are enabled, with an empty list none.",
    )
    accept: float = Field(
        Thresholds().accept, ge=0, le=1, description="From this confidence up, it is the match."
    )
    candidate: float = Field(
        Thresholds().candidate,
        ge=0,
        le=1,
        description="From this confidence up, a product is shown as a candidate.",
    )
    margin: float = Field(
        Thresholds().margin,
        ge=0,
        le=1,
        description="How far the second product must be behind, so that the first is no question.",
    )

    @model_validator(mode="after")
    def _ordered(self) -> LookupConfig:
        if self.candidate > self.accept:
            raise ValueError("candidate: must not be above `accept`")
        return self

    @property
    def thresholds(self) -> Thresholds:
        return Thresholds(self.accept, self.candidate, self.margin)

    def header(self) -> list[str]:
        """The columns of ``rows``."""
        return list(dict.fromkeys(name for row in self.rows or () for name in row))

    def cells(self) -> list[list[str]]:
        """The cells of ``rows``, as they would be read from a file."""
        header = self.header()
        return [[_text(row.get(name)) for name in header] for row in self.rows or ()]


def _text(value: Any) -> str:
    if value is None:
        return ""
    # A number in JSON has no leading zeros to lose, but 4006381333931.0 is a GTIN all the same.
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
