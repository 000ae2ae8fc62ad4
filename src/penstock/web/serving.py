"""The UI around the application: its files by name, its page wherever a browser asks for one."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.web.bundle import INDEX, Asset, load

_FOR_GOOD = "public, max-age=31536000, immutable"
# Styles may be inline: components place themselves. Scripts may not, nor come from elsewhere.
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_UNBUILT = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Penstock</title>
<body style="font: 16px/1.5 sans-serif; max-width: 40em; margin: 4em auto; padding: 0 1em">
<h1>The web UI is not built</h1>
<p>Penstock runs, and its API answers; only the pages are missing from this installation.</p>
<p>Run <code>make ui</code> in the project's folder (it needs Node 20 or newer) and start Penstock
again, or install a released package, which has them inside.</p></body></html>
"""


class Web:
    """Plain ASGI. What the application knows, it answers; a browser that asks for a page which the
    application does not know gets the UI, which has routes of its own."""

    def __init__(self, app: ASGIApp, assets: Mapping[str, Asset] | None = None) -> None:
        self._app = app
        self._assets = load() if assets is None else assets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        path: str = scope["path"]
        asset = self._assets.get(path.removeprefix("/"))
        if asset is not None:
            await _file(asset, headers)(scope, receive, send)
            return
        if "text/html" not in headers.get("accept", "") or path.startswith("/api/"):
            await self._app(scope, receive, send)
        elif path == "/":
            await self._page(headers)(scope, receive, send)
        else:
            await self._page_if_unknown(scope, receive, send, headers)

    async def _page_if_unknown(
        self, scope: Scope, receive: Receive, send: Send, headers: Headers
    ) -> None:
        unknown = False

        async def judged(message: Message) -> None:
            nonlocal unknown
            if message["type"] == "http.response.start":
                unknown = message["status"] == 404
            if not unknown:
                await send(message)

        await self._app(scope, receive, judged)
        if unknown:
            await self._page(headers)(scope, receive, send)

    def _page(self, headers: Headers) -> Response:
        index = self._assets.get(INDEX)
        if index is None:
            sent = {"Content-Security-Policy": _POLICY}
            return Response(_UNBUILT, 503, sent, media_type="text/html")
        return _file(index, headers)


def _file(asset: Asset, asked: Headers) -> Response:
    headers = {
        "Cache-Control": _FOR_GOOD if asset.is_named_by_content else "no-cache",
        "ETag": asset.etag,
        "Vary": "Accept-Encoding",
        "Content-Security-Policy": _POLICY,
    }
    if asked.get("if-none-match") == asset.etag:
        return Response(status_code=304, headers=headers)
    body = asset.raw
    if asset.gzipped is not None and "gzip" in asked.get("accept-encoding", ""):
        body = asset.gzipped
        headers["Content-Encoding"] = "gzip"
    headers["Content-Type"] = asset.media_type
    return Response(body, 200, headers)
