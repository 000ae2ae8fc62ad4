"""Saved research requests."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from penstock.api.http.access import ApiParts, Reader, Writer, caller_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.research.schemas import (
    DeletedQuery,
    NewResearch,
    SavedQueryList,
    SavedQueryShape,
    query_shape,
)
from penstock.app.research import queries
from penstock.store.research import queries as store

router = APIRouter(tags=["research"])
QueryName = Annotated[
    str,
    Path(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00-\x1f\x7f/]*[^\s\x00-\x1f\x7f/]$",
        description="The name of the query.",
    ),
]


@router.get(
    "/research/queries",
    summary="List saved queries",
    responses={200: {"model": SavedQueryList}},
)
async def list_queries(api: ApiParts, who: Reader) -> Response:
    """All of the org, by name."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await store.list_queries(conn, who.org_id)
    return answer({"items": [query_shape(one) for one in found]})


@router.put(
    "/research/queries/{query_name}",
    summary="Save a query",
    responses={200: {"model": SavedQueryShape}},
    openapi_extra=body_of(NewResearch),
)
async def save_query(
    request: Request, api: ApiParts, who: Writer, query_name: QueryName
) -> Response:
    """The body of `POST /api/research`. One of the same name is replaced."""
    asked = await order_of(request, NewResearch)
    given = asked.model_dump(mode="json", by_alias=True, exclude_unset=True)
    async with api.db.scoped(who.scope) as conn:
        await queries.save(conn, caller_of(request, who), query_name, given)
        found = await store.list_queries(conn, who.org_id)
    return answer(next(query_shape(one) for one in found if one.name == query_name))


@router.delete(
    "/research/queries/{query_name}",
    summary="Delete a saved query",
    responses={200: {"model": DeletedQuery}},
)
async def delete_query(
    request: Request, api: ApiParts, who: Writer, query_name: QueryName
) -> Response:
    """Requests that were made with it stay."""
    async with api.db.scoped(who.scope) as conn:
        await queries.delete(conn, caller_of(request, who), query_name)
    return answer({"name": query_name})
