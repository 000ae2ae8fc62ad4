"""Search a configured source.

A stage of a pipeline asks all sources of its org like this:

    for source in await ctx.port(Sources).enabled(item.job.org_id):
        tools = tools_of(ctx, rates=await ctx.port(Profiles).rates("USD", today))
        offers = await find_offers(source, SearchQuery("4006381333931"), tools)

Each call waits for the limits and the circuit of the source, which all workers share, and raises
the errors of `model.errors` (`Waiting` where the item should be put back).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from penstock.model.errors import NotAllowed
from penstock.model.network.fetching import FetchPurpose, FetchRequest, FetchResponse
from penstock.model.ports import Context, InputFile
from penstock.model.sources.search import (
    PROVIDER,
    Offer,
    OpenedSource,
    RateTable,
    RawAnswer,
    ReadAnswer,
    SearchQuery,
    SourcePage,
    SourceTools,
)
from penstock.providers.base import classify_status
from penstock.providers.configured.oauth import TOKENS
from penstock.providers.configured.reading import read_answer
from penstock.providers.configured.requests import (
    PageState,
    build_request,
    next_state,
    shown_url,
)

# A source that refuses calls must not hold up the answers of others in the same slice.
_PATIENCE_MS = 50.0


def tools_of(ctx: Context, *, base_currency: str = "USD", rates: RateTable = ()) -> SourceTools:
    """What a search of a stage works with: its fetch, its child processes, the shared limits."""
    return SourceTools(
        ctx.fetchers[FetchPurpose.PROVIDER],
        ctx.children,
        lambda source: ctx.calls(
            PROVIDER, source.name, company="", rate=source.rate, patience_ms=_PATIENCE_MS
        ),
        datetime.now(UTC).date(),
        base_currency,
        rates,
    )


async def find_offers(
    source: OpenedSource, query: SearchQuery, tools: SourceTools, *, max_pages: int = 1
) -> list[Offer]:
    """Products of one source for one query, from its first pages. Offers with an ``error`` are
    records that cannot be used; the others have a normalised ``product``."""
    found: list[Offer] = []
    state: PageState | None = {}
    for _ in range(max_pages):
        page = await search_page(source, query, state or {}, tools)
        found += page.read.offers
        state = state_after(source, state or {}, page)
        if state is None:
            break
    return found


async def search_page(
    source: OpenedSource, query: SearchQuery, state: PageState, tools: SourceTools
) -> SourcePage:
    """One page: the raw answer and its products. ``state`` {} is the first page. An answer that is
    no success, or in another form than configured, raises its error and counts against the
    source."""
    return await _ask(source, query, state, tools, maps=True)


async def fetch_page(
    source: OpenedSource, query: SearchQuery, state: PageState, tools: SourceTools
) -> SourcePage:
    """The same without the products: `read_page` makes them of the kept answer later."""
    return await _ask(source, query, state, tools, maps=False)


async def _ask(
    source: OpenedSource, query: SearchQuery, state: PageState, tools: SourceTools, *, maps: bool
) -> SourcePage:
    async with tools.enter(source):
        try:
            answer = await _send(source, query, state, tools)
        except NotAllowed:
            if source.config.auth.kind != "oauth2":
                raise
            # The token may have been withdrawn before its time: once with a new one.
            TOKENS.forget(source)
            answer = await _send(source, query, state, tools)
        headers = {name.lower(): value for name, value in answer.headers}
        raw = RawAnswer(
            shown_url(source, answer.url), source.config.method, answer.status, headers,
            answer.body, answer.ms,
        )  # fmt: skip
        return SourcePage(raw, await read_page(source, raw.body, headers, tools, maps=maps))


async def request_of(
    source: OpenedSource, query: SearchQuery, state: PageState, tools: SourceTools
) -> FetchRequest:
    token = None
    if source.config.auth.kind == "oauth2":
        token = await TOKENS.token(source, tools.fetch)
    return build_request(source, query, state, token)


async def _send(
    source: OpenedSource, query: SearchQuery, state: PageState, tools: SourceTools
) -> FetchResponse:
    answer = await tools.fetch.fetch(await request_of(source, query, state, tools))
    error = classify_status(answer, source.config.shown_title)
    if error is not None:
        raise error
    return answer


async def read_page(
    source: OpenedSource, body: bytes | InputFile, headers: Mapping[str, str], tools: SourceTools,
    *, maps: bool = True,
) -> ReadAnswer:  # fmt: skip
    """Read a raw answer, or the file that it is kept in, in a child process."""
    rates = list(tools.rates) if maps else []
    found: ReadAnswer = await tools.children.call(
        read_answer, source.config.model_dump_json(), body, dict(headers), tools.today,
        tools.base_currency, rates, maps,
    )  # fmt: skip
    return found


def state_after(source: OpenedSource, state: PageState, page: SourcePage) -> PageState | None:
    """Where the next page is; None after the last one."""
    read = page.read
    return next_state(source.config, state, read.records, read.next_cursor, read.total)
