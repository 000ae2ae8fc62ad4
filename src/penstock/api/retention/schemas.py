"""Retention as the API takes and shows it."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from penstock.api.http.schemas import OrgQuery, Shape
from penstock.app.retention.policies import OrgRetention
from penstock.model.retention.policy import RetentionOverrides, RetentionPolicy
from penstock.store.retention.retention import TableSize

KINDS = (
    "jobs", "items", "events", "files", "searches", "changes", "pages", "deliveries",
    "scheduleRuns",
)  # fmt: skip


class RetentionQuery(OrgQuery):
    pass


class RetentionShape(Shape):
    org: str
    installation: RetentionPolicy = Field(description="By the setting `PENSTOCK_RETENTION`.")
    overrides: RetentionOverrides = Field(description="What the org sets itself.")
    effective: RetentionPolicy = Field(description="Days by kind; 0: forever.")


class PruneOrder(Shape):
    dry_run: bool = Field(True, description="Only count.")
    max_seconds: int = Field(10, ge=1, le=20, description="How long this call may take.")


class PrunedCounts(Shape):
    jobs: int
    items: int
    events: int
    files: int = Field(description="Files that their job keeps no longer.")
    searches: int
    changes: int = Field(description="Before-images, without which a job cannot be undone.")
    pages: int = Field(description="Old versions of pages.")
    deliveries: int
    schedule_runs: int


class PruneShape(Shape):
    dry_run: bool
    org: str | None = Field(description="Null: all orgs.")
    deleted: PrunedCounts
    more: bool = Field(description="The time ended first: call again.")


class TableShape(Shape):
    name: str
    bytes: int = Field(description="With indexes.")
    rows: int = Field(description="As PostgreSQL estimates them.")
    dead_rows: int = Field(description="Deleted, and not yet reused.")


class TableList(Shape):
    items: list[TableShape]


def retention_shape(found: OrgRetention) -> dict[str, Any]:
    return {
        "org": found.org,
        "installation": found.installation.model_dump(mode="json"),
        "overrides": found.overrides.model_dump(mode="json"),
        "effective": found.effective.model_dump(mode="json"),
    }


def table_shape(table: TableSize) -> dict[str, Any]:
    return {
        "name": table.name, "bytes": table.bytes, "rows": table.rows, "deadRows": table.dead_rows,
    }  # fmt: skip
