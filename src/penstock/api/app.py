"""The HTTP application, from the engine's parts and the API's own database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.params import Depends
from fastapi.routing import APIRoute
from starlette.middleware.cors import CORSMiddleware

from penstock import __version__
from penstock.api import (
    audit,
    bulk,
    clone,
    control,
    dead_letters,
    events,
    export,
    extraction,
    extraction_monitor,
    files,
    fix,
    health,
    items,
    jobs,
    keys,
    metrics,
    monitor,
    orgs,
    pending,
    pictures,
    products,
    profiles,
    queues,
    reference,
    session,
    sessions,
    sockets,
    undo,
    uploads,
    users,
    webhooks,
)
from penstock.api.access import Api, principal
from penstock.api.cors import cross_origin
from penstock.api.cursors import signing
from penstock.api.document import describe
from penstock.api.errors import handle_errors
from penstock.api.frame import Frame
from penstock.api.identify import Door
from penstock.api.live import Live
from penstock.api.tail import Tail
from penstock.api.versions import operation_id
from penstock.api.work import ROUTES, Turns, name_of_route
from penstock.engine.parts import Parts
from penstock.store.database import Database
from penstock.web.serving import Web

_ABOUT = """\
Durable intake for product data: upload a file, create a job, watch its items, export the results.

Every call but `/health` and signing in needs an API key or a session. Errors are RFC 9457 problems
whose `error.code` names what went wrong. Lists are read page by page: pass `next` on, unchanged,
until it is null.
"""

# What is asked most comes first: routes are looked through in this order.
_RESOURCES = (
    *(jobs, items, files, uploads, extraction, pending, control, clone, fix, undo, profiles),
    *(export, events),
    *(products, pictures),
    dead_letters,
    bulk,
    *(queues, monitor, extraction_monitor),
    *(users, keys, sessions, orgs, audit),
    webhooks,
)


class CostedRoute(APIRoute):
    """A route that knows which kind of work it is; one that `ROUTES` lacks cannot be made."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        super().__init__(path, endpoint, **more)
        self.work = ROUTES[name_of_route(self.methods or (), path)]


def _add(app: FastAPI, router: APIRouter, prefix: str = "", needed: Sequence[Depends] = ()) -> None:
    """The router's routes as the application's own. Routers within routers are looked through anew
    for every request, which costs a short one a fifth of its time."""
    for route in router.routes:
        assert isinstance(route, APIRoute)
        app.add_api_route(
            prefix + route.path,
            route.endpoint,
            methods=sorted(route.methods or ()),
            name=route.name,
            status_code=route.status_code,
            tags=route.tags,
            dependencies=[*needed, *route.dependencies],
            summary=route.summary,
            responses=route.responses,
            response_class=route.response_class,
            include_in_schema=route.include_in_schema,
            openapi_extra=route.openapi_extra,
        )


def create_app(parts: Parts, api_db: Database, export_db: Database | None = None) -> FastAPI:
    """Both databases must be open and of the role that row-level security binds."""
    app = routed()
    door, turns = Door(parts.settings, api_db), Turns(parts.settings)
    app.state.api = Api(parts, api_db, door, turns, export_db or api_db)
    app.state.live = Live(app.state.api, Tail(api_db, parts.log))
    app.state.pulse = health.Pulse(api_db, parts)
    app.state.pictures = pictures.Pictures(parts)
    app.add_middleware(Web)
    if parts.settings.cors_origins:
        app.add_middleware(CORSMiddleware, **cross_origin(parts.settings.cors_origins))
    app.add_middleware(Frame, log=parts.log)
    return app


def routed() -> FastAPI:
    """All calls, with nothing behind them yet."""
    app = FastAPI(
        title="Penstock",
        version=__version__,
        description=_ABOUT,
        # FastAPI's pages load their scripts from elsewhere, which an API's answers must not.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
        # Told in full by `describe`; without it FastAPI would tell of answers that are never given.
        responses={"default": {"description": "A problem"}},
    )
    handle_errors(app)
    app.router.route_class = CostedRoute
    # The key first: whoever has none learns nothing from what else is wrong.
    for resource in _RESOURCES:
        _add(app, resource.router, "/api", [Depends(principal), Depends(signing)])
    # Signing in needs no key.
    _add(app, session.router, "/api")
    _add(app, health.router)
    _add(app, metrics.router, "", [Depends(principal)])
    _add(app, reference.router)
    app.include_router(sockets.router)
    describe(app)
    return app
