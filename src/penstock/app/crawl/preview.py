"""What would be extracted from one page, without a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.app.preview import preview
from penstock.engine.runtime import Runtime
from penstock.model.errors import BadInput, PermanentError, TransientError
from penstock.model.ids import new_id
from penstock.model.pipeline import Job
from penstock.store.accounts.accounts import Principal
from penstock.store.crawl.runs import PIPELINE

_REFUSED = frozenset(("PAGE_GONE", "PAGE_UNAVAILABLE", "TOO_MANY_REDIRECTS"))
_AWAY = frozenset(("NETWORK_ERROR", "FETCH_TIMEOUT", "SERVICE_UNAVAILABLE", "API_RATE_LIMIT"))


async def preview_page(
    runtime: Runtime, who: Principal, url: str, html: str | None, config: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Fetch the page, or take ``html`` instead, and extract it. Nothing is stored."""
    pipeline = runtime.pipeline(PIPELINE)
    asked: dict[str, Any] = {"url": url}
    if html is not None:
        asked["html"] = html
    job = Job(
        new_id(), who.org_id, PIPELINE, pipeline.Config.model_validate(dict(config)), context=asked
    )
    try:
        return await preview(runtime, job)
    except PermanentError as error:
        if error.code in _REFUSED:
            raise BadInput("URL_REFUSED", error.message) from error
        raise
    except TransientError as error:
        if error.code not in _AWAY:
            raise
        raise TransientError(
            "URL_UNREACHABLE", f"The page could not be fetched. {error.message}",
            retry_after_ms=error.retry_after_ms,
        ) from error  # fmt: skip
