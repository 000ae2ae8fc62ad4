"""Profiles of suppliers' files, by name, with all versions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from penstock.api.catalog.profile_schemas import (
    ProductFields,
    ProfilePage,
    ProfileQuery,
    ProfileShape,
    ProfilesQuery,
    SaveQuery,
)
from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, content_type, json_object, read_text
from penstock.api.http.cursors import from_cursor, to_cursor
from penstock.api.http.schemas import OrgQuery
from penstock.app import profiles as app
from penstock.catalog.fields import FIELDS
from penstock.catalog.profiles import profile as catalog
from penstock.catalog.profiles.checks import ProfileInput
from penstock.catalog.saved_profiles import prepare_to_save
from penstock.model.errors import BadInput
from penstock.store.catalog import profiles

router = APIRouter(tags=["profiles"])
Name = Annotated[str, Path(max_length=100, description="The profile's name.")]
TOML = "application/toml"
_BODIES = body_of(ProfileInput)
_BODIES["requestBody"]["content"][TOML] = {"schema": {"type": "string"}}


@router.get("/fields", summary="List fields", responses={200: {"model": ProductFields}})
async def list_fields(who: Reader) -> Response:
    """The fields that a column may be mapped to."""
    items = [
        {
            "target": field.target,
            "description": field.description,
            "required": field.required,
            "many": field.many,
        }
        for field in FIELDS
        if field.mapped
    ]
    return answer({"items": items})


@router.get("/profiles", summary="List profiles", responses={200: {"model": ProfilePage}})
async def list_profiles(
    api: ApiParts, who: Reader, query: Annotated[ProfilesQuery, Query()]
) -> Response:
    """The latest version of each profile of your org, by name."""
    after = ""
    if query.after:
        [after] = from_cursor(query.after, "profiles", str)
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org)
        rows = await profiles.list_profiles(conn, org_id, after, query.page_size + 1)
    page = rows[: query.page_size]
    following = to_cursor("profiles", page[-1].name) if len(rows) > len(page) else None
    items = [{**one.body, "createdAt": one.created_at} for one in page]
    return answer({"items": items, "next": following})


@router.get(
    "/profiles/{name}",
    summary="Show a profile",
    responses={200: {"model": ProfileShape, "content": {TOML: {}}}},
)
async def show_profile(
    request: Request,
    api: ApiParts,
    who: Reader,
    name: Name,
    query: Annotated[ProfileQuery, Query()],
) -> Response:
    """The latest version or an older one, as JSON, or as TOML if the client accepts it."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        org_id = await org_of(conn, who, query.org)
        body = await profiles.get(conn, org_id, name, query.version)
    if body is None:
        raise app.no_such_profile()
    if TOML in request.headers.get("accept", ""):
        return Response(catalog.from_json(body).to_toml(), media_type=TOML)
    return answer(body)


@router.put(
    "/profiles/{name}",
    summary="Save a profile",
    responses={200: {"model": ProfileShape, "content": {TOML: {}}}},
    openapi_extra=_BODIES,
)
async def save_profile(
    request: Request, api: ApiParts, who: Writer, name: Name, query: Annotated[SaveQuery, Query()]
) -> Response:
    """Save a new version under this name. Files with the columns of the profile use it
    automatically. With `dryRun` nothing is saved. The answer is JSON, or TOML if the client accepts
    it."""
    kind, _ = content_type(request)
    if kind == TOML:
        profile = catalog.from_toml(await read_text(request))
    elif kind == "application/json":
        profile = catalog.from_input({"name": name, **await json_object(request)})
    else:
        raise BadInput("UNSUPPORTED_TYPE", f"Send application/json or {TOML}.")
    ready = prepare_to_save(profile)
    if query.dry_run:
        if TOML in request.headers.get("accept", ""):
            return Response(ready.to_toml(), media_type=TOML)
        return answer(catalog.to_json(ready))
    body: dict[str, Any] = catalog.to_json(ready)
    async with api.db.scoped(who.scope) as conn:
        org_id = await org_of(conn, who, query.org)
        version = await app.save_profile(conn, caller_of(request, who), org_id, name, body)
    return answer({**body, "name": name, "version": version})


@router.delete("/profiles/{name}", status_code=204, summary="Delete a profile")
async def delete_profile(
    request: Request, api: ApiParts, who: Writer, name: Name, query: Annotated[OrgQuery, Query()]
) -> Response:
    """No file uses it any more. Jobs that ran with it keep their copy."""
    async with api.db.scoped(who.scope) as conn:
        org_id = await org_of(conn, who, query.org)
        await app.delete_profile(conn, caller_of(request, who), org_id, name)
    return Response(status_code=204)
