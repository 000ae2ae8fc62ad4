"""Checks and tests of sources, for use cases."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

from penstock.model.errors import PenstockError
from penstock.model.ports import Call, Children, Fetch
from penstock.model.sources.config import SourceConfig
from penstock.model.sources.search import (
    OpenedSource,
    RateTable,
    SearchQuery,
    SourceTools,
    SourceTrial,
)
from penstock.providers.configured.mapping import check_fields
from penstock.providers.configured.requests import build_request, shown_request
from penstock.providers.configured.search import search_page

EnterSource = Callable[[OpenedSource, float], AbstractAsyncContextManager[Call]]


class SourceTests:
    """Implements `model.sources.search.SourceSearch`."""

    def __init__(self, fetch: Fetch, children: Children, enter: EnterSource) -> None:
        self._fetch = fetch
        self._children = children
        self._enter = enter

    def check(self, config: SourceConfig) -> None:
        check_fields(config)

    async def test(
        self, source: OpenedSource, query: SearchQuery, seconds: float, rates: RateTable
    ) -> SourceTrial:
        """Ask for the first page. A source that refuses is a result, not an error of the caller."""
        tools = SourceTools(
            self._fetch, self._children, lambda one: self._enter(one, seconds),
            datetime.now(UTC).date(), rates=rates,
        )  # fmt: skip
        shown = shown_request(source, build_request(source, query, {}))
        try:
            return SourceTrial(shown, await search_page(source, query, {}, tools), None)
        except PenstockError as error:
            return SourceTrial(shown, None, error)
