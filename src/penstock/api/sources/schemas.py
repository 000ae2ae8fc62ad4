"""Sources as the API takes and shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import orjson
from pydantic import Field

from penstock.api.http.answers import stored
from penstock.api.http.schemas import PRINTABLE, OrgQuery, Shape
from penstock.app.owned import may_change
from penstock.model.sources.config import SourceConfig
from penstock.model.sources.search import SourceTrial
from penstock.model.text.redaction import redacted
from penstock.store.accounts.audit_log import Caller
from penstock.store.sources.sources import SourceRow

_SHOWN_BYTES = 64 * 1024
_SHOWN_OFFERS = 50


class NewSource(SourceConfig):
    """A source's configuration with its credentials, which are stored encrypted and never shown."""

    credentials: dict[str, str] = Field(default_factory=dict, max_length=10)


class SourceTest(Shape):
    query: str = Field(min_length=1, max_length=500, pattern=PRINTABLE)
    region: str = Field("", max_length=100, pattern=PRINTABLE)
    currency: str = Field("", max_length=3, pattern=PRINTABLE)


class SourcesQuery(OrgQuery):
    pass


class SourceProblem(Shape):
    code: str
    message: str


class SourceShape(Shape):
    id: UUID
    org: str
    user_id: int = Field(description="Its creator, who may change it, as may admins.")
    name: str
    title: str
    enabled: bool
    format: Literal["json", "xml", "csv"]
    config: dict[str, Any] = Field(description="As it was sent, without credentials.")
    credential_names: list[str] = Field(description="What its kind of `auth` needs.")
    status: Literal["untested", "ok", "error"] = Field(description="By the last test.")
    error: SourceProblem | None = Field(description="Why the last test failed.")
    tested_at: datetime | None
    may_change: bool
    created_at: datetime
    updated_at: datetime


class SourceList(Shape):
    items: list[SourceShape]


class SourceTestShape(Shape):
    ok: bool
    error: SourceProblem | None
    request: dict[str, Any] = Field(description="What was sent, without secrets.")
    status: int | None = Field(description="The status of the answer.")
    ms: int | None
    answer: str | None = Field(description="The raw answer, at most 64 KiB of it.")
    records: int | None
    products: list[dict[str, Any]] = Field(
        description="Mapped products with `product`, `lineage`, `problems` and `error`."
    )
    has_next_page: bool


class SourceHealth(Shape):
    provider: str
    org: str
    company: str | None
    domain: str | None
    circuit: dict[str, Any]
    limit: dict[str, Any]
    calls: int = Field(description="In the last 15 minutes.")
    failed: int
    throttled: int
    error_rate: float | None
    p95_ms: int | None


class DeletedSource(Shape):
    id: UUID


def source_shape(row: SourceRow, caller: Caller) -> dict[str, Any]:
    config = row.parsed
    status = "error" if row.error else "ok" if row.tested_at else "untested"
    return {
        "id": str(row.id),
        "org": row.org,
        "userId": row.user_id,
        "name": row.name,
        "title": config.shown_title,
        "enabled": row.enabled,
        "format": config.response.format,
        "config": orjson.loads(config.model_dump_json(exclude_unset=True)),
        "credentialNames": list(config.auth.credential_names),
        "status": status,
        "error": stored(row.error),
        "testedAt": row.tested_at,
        "mayChange": may_change(caller, row),
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }


def trial_shape(trial: SourceTrial) -> dict[str, Any]:
    page, error = trial.page, trial.error
    raw = None if page is None else page.raw
    return {
        "ok": page is not None,
        "error": None
        if error is None
        else {"code": error.code, "message": redacted(error.message)},
        "request": trial.request,
        "status": None if raw is None else raw.status,
        "ms": None if raw is None else raw.ms,
        "answer": None
        if raw is None
        else redacted(raw.body[:_SHOWN_BYTES].decode("utf-8", "replace")).replace("\0", "\ufffd"),
        "records": None if page is None else page.read.records,
        "products": []
        if page is None
        else [
            {
                "product": one.product,
                "lineage": one.lineage,
                "problems": one.problems,
                "error": one.error,
            }
            for one in page.read.offers[:_SHOWN_OFFERS]
        ],
        "hasNextPage": page is not None and page.read.next_cursor is not None,
    }
