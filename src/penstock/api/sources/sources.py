"""Configured sources: product APIs that are asked by research and lookups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response

from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, id_in_path, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, content_type, order_of, read_text
from penstock.api.http.idempotency import IdempotencyKey, once_in_secret
from penstock.api.http.schemas import OrgQuery
from penstock.api.sources.schemas import (
    DeletedSource,
    NewSource,
    SourceHealth,
    SourceList,
    SourceShape,
    SourcesQuery,
    SourceTest,
    SourceTestShape,
    source_shape,
    trial_shape,
)
from penstock.app.shops import demo
from penstock.app.sources import sources
from penstock.app.sources.sources import MOST_SOURCES, no_such_source
from penstock.model.sources.document import SourceDocument, read_document
from penstock.model.sources.search import SearchQuery
from penstock.store.database import Connection
from penstock.store.sources import sources as store
from penstock.store.sources.sources import SourceRow

router = APIRouter(tags=["sources"])
_ONE: dict[int | str, dict[str, Any]] = {200: {"model": SourceShape}}
_TOML = ("application/toml", "text/toml")


def _body() -> dict[str, Any]:
    described = body_of(NewSource)
    text = {"schema": {"type": "string", "description": "The same as TOML."}}
    described["requestBody"]["content"]["application/toml"] = text
    return described


SourceId = Annotated[UUID, Depends(id_in_path("source_id", "The source's id.", no_such_source))]


async def _document(request: Request) -> SourceDocument:
    text = await read_text(request)
    return read_document(text, is_toml=content_type(request)[0] in _TOML)


@router.get("/sources", summary="List sources", responses={200: {"model": SourceList}})
async def list_sources(
    request: Request, api: ApiParts, who: Reader, query: Annotated[SourcesQuery, Query()]
) -> Response:
    """Sources of your org by name, or for an admin those of `org`. Credentials are never shown."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org)
        found = await _sources_of(conn, org_id)
    caller = caller_of(request, who)
    return answer({"items": [source_shape(one, caller) for one in found]})


@router.post(
    "/sources",
    status_code=201,
    summary="Create a source",
    responses={201: {"model": SourceShape}},
    openapi_extra=_body(),
)
async def create_source(
    request: Request,
    api: ApiParts,
    who: Writer,
    query: Annotated[OrgQuery, Query()],
    _: IdempotencyKey = None,
) -> Response:
    """The configuration as JSON, or as TOML with `Content-Type: application/toml`. A configuration
    that cannot be used is refused with the line and the reason. The source is not asked yet: test
    it next."""
    document = await _document(request)
    config = await sources.check_document(api.runtime, document)
    caller = caller_of(request, who)

    async def make(conn: Connection) -> Response:
        org_id = await org_of(conn, who, query.org)
        made = await sources.create(api.runtime, conn, caller, config, document.credentials, org_id)
        place = {"Location": f"/api/sources/{made.id}"}
        return answer(source_shape(made, caller), 201, place)

    meaning = ["source", config.model_dump_json(), query.org]
    private = sorted(document.credentials.items())
    return await once_in_secret(request, api, who, meaning, make, private=private)


@router.post(
    "/sources/demo",
    status_code=201,
    summary="Add the sources of the sandbox",
    responses={201: {"model": SourceList}},
)
async def add_demo_sources(request: Request, api: ApiParts, who: Writer) -> Response:
    """Adds the procurement APIs of a running `penstock sandbox`, which are made up. Sources of the
    same name are replaced. Only where the operator allows it with `PENSTOCK_PROVIDER_ALLOW`."""
    documents = await demo.demo_sources(api.runtime)
    checked = [(await sources.check_document(api.runtime, one), one) for one in documents]
    caller = caller_of(request, who)
    made = []
    async with api.db.scoped(who.scope) as conn:
        known = {one.name: one.id for one in await _sources_of(conn, who.org_id)}
        for config, document in checked:
            if config.name in known:
                one = await sources.change(
                    api.runtime, conn, caller, known[config.name], config, document.credentials
                )
            else:
                one = await sources.create(
                    api.runtime, conn, caller, config, document.credentials, who.org_id
                )
            made.append(source_shape(one, caller))
    return answer({"items": made}, 201)


async def _sources_of(conn: Connection, org_id: int) -> Sequence[SourceRow]:
    return await store.list_sources(conn, org_id, MOST_SOURCES)


@router.get("/sources/{source_id}", summary="Show a source", responses=_ONE)
async def show_source(
    request: Request, api: ApiParts, who: Reader, source_id: SourceId
) -> Response:
    """Its configuration, and the result of its last test."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await sources.get_source(conn, source_id)
    return answer(source_shape(found, caller_of(request, who)))


@router.put(
    "/sources/{source_id}", summary="Replace a source", responses=_ONE, openapi_extra=_body()
)
async def change_source(
    request: Request, api: ApiParts, who: Writer, source_id: SourceId
) -> Response:
    """The whole configuration. Credentials that are left out stay as they are, unless the address
    changes: they are never sent elsewhere."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        await sources.get_source(conn, source_id)
    document = await _document(request)
    config = await sources.check_document(api.runtime, document)
    caller = caller_of(request, who)
    async with api.db.scoped(who.scope) as conn:
        changed = await sources.change(
            api.runtime, conn, caller, source_id, config, document.credentials
        )
    return answer(source_shape(changed, caller))


@router.delete(
    "/sources/{source_id}", summary="Delete a source", responses={200: {"model": DeletedSource}}
)
async def delete_source(
    request: Request, api: ApiParts, who: Writer, source_id: SourceId
) -> Response:
    """The credentials are deleted. Results of earlier requests stay."""
    async with api.db.scoped(who.scope) as conn:
        await sources.delete(conn, caller_of(request, who), source_id)
    return answer({"id": str(source_id)})


@router.post(
    "/sources/{source_id}/test",
    summary="Test a source",
    responses={200: {"model": SourceTestShape}},
    openapi_extra=body_of(SourceTest),
)
async def test_source(
    request: Request, api: ApiParts, who: Writer, source_id: SourceId
) -> Response:
    """Asks for the first page and shows the request, the raw answer, the mapped products and their
    problems. A source that refuses is an answer, not an error of this call."""
    order = await order_of(request, SourceTest)
    query = SearchQuery(order.query, region=order.region, currency=order.currency)
    trial = await sources.test(
        api.runtime, lambda: api.db.scoped(who.scope), caller_of(request, who), source_id, query
    )
    return answer(trial_shape(trial))


@router.get(
    "/sources/{source_id}/health",
    summary="Show the health of a source",
    responses={200: {"model": SourceHealth}},
)
async def source_health(api: ApiParts, who: Reader, source_id: SourceId) -> Response:
    """Its limit and circuit, and its calls of the last 15 minutes."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await sources.health(api.runtime, conn, source_id)
    return answer(found)
