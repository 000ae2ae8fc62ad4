"""Health of providers: limits, circuits, calls; reset."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from penstock.api.http.access import ApiParts, Reader, Writer, caller_of
from penstock.api.http.answers import answer
from penstock.api.providers.schemas import ProviderPage, ResetShape
from penstock.app import providers

router = APIRouter(tags=["providers"])
Key = Annotated[str, Path(max_length=100, description="The provider's name, such as `shopify`.")]
_PAGE: dict[int | str, dict[str, Any]] = {200: {"model": ProviderPage}}
_RESET: dict[int | str, dict[str, Any]] = {200: {"model": ResetShape}}


@router.get("/providers", summary="List providers", responses=_PAGE)
async def list_providers(api: ApiParts, who: Reader) -> Response:
    """Every provider with its limit, and the buckets and circuits of your org; admins see those of
    all orgs. Up to 500, open circuits first."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        limits = api.runtime.settings.provider_limits
        return answer({"items": await providers.list_providers(conn, limits)})


@router.post("/providers/{key}/reset", summary="Reset a provider", responses=_RESET)
async def reset_provider(request: Request, api: ApiParts, who: Writer, key: Key) -> Response:
    """Close the provider's circuits and end its pauses: waiting items call it again when they are
    due. Only those of your org; an admin resets those of all orgs."""
    async with api.db.scoped(who.scope) as conn:
        limits = api.runtime.settings.provider_limits
        count = await providers.reset_provider(conn, caller_of(request, who), key, limits)
    return answer({"key": key, "reset": count})
