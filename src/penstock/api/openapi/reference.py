"""The reference for people: the document as a page, with nothing from elsewhere."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request, Response

from penstock.api.openapi.reference_page import page
from penstock.model.errors import NotThere

router = APIRouter(include_in_schema=False)
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'"
)
_KINDS = {"reference.css": "text/css", "reference.js": "text/javascript"}


@router.get("/docs")
async def docs(request: Request) -> Response:
    """Made once: the document does not change while the process lives."""
    if not hasattr(request.app.state, "reference"):
        request.app.state.reference = page(request.app.openapi())
    headers = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"}
    return Response(request.app.state.reference, 200, headers, media_type="text/html")


@router.get("/docs/{name}")
async def asset(name: str) -> Response:
    if name not in _KINDS:
        raise NotThere("NOT_FOUND", "There is nothing at this address.")
    return Response(_asset(name), 200, {"Cache-Control": "no-cache"}, media_type=_KINDS[name])


@cache
def _asset(name: str) -> bytes:
    return files("penstock.api").joinpath("static", name).read_bytes()
