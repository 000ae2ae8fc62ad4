"""The API reference: the document as a page, without external resources."""

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
# Addresses below /docs, with the file and its type.
_FILES = {
    "reference.css": ("reference.css", "text/css"),
    "reference.js": ("reference.js", "text/javascript"),
    "runbook": ("runbook.html", "text/html"),
}


@router.get("/docs")
async def docs(request: Request) -> Response:
    """Built once: the document does not change while the process runs."""
    if not hasattr(request.app.state, "reference"):
        request.app.state.reference = page(request.app.openapi())
    headers = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"}
    return Response(request.app.state.reference, 200, headers, media_type="text/html")


@router.get("/docs/{name}")
async def asset(name: str) -> Response:
    """What the page loads, and the runbook, which alerts link to."""
    if name not in _FILES:
        raise NotThere("NOT_FOUND", "There is nothing at this address.")
    file, kind = _FILES[name]
    headers = {"Content-Security-Policy": _POLICY, "Cache-Control": "no-cache"}
    return Response(_asset(file), 200, headers, media_type=kind)


@cache
def _asset(name: str) -> bytes:
    return files("penstock.api").joinpath("static", name).read_bytes()
