"""The HTTP application, from the engine's runtime and the API's own database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.params import Depends
from fastapi.routing import APIRoute
from starlette.middleware.cors import CORSMiddleware

from penstock import __version__
from penstock.api.accounts import audit, keys, orgs, session, sessions, users
from penstock.api.catalog import (
    export_templates,
    pictures,
    product_edits,
    product_filters,
    product_links,
    products,
    profiles,
    saved_values,
)
from penstock.api.crawl import pages, postings, runs
from penstock.api.feeds import feeds, serving
from penstock.api.files import files, resumable_uploads
from penstock.api.http.access import Api, principal
from penstock.api.http.cors import cross_origin
from penstock.api.http.cpu_budget import CpuBudgetMiddleware
from penstock.api.http.cursors import signing
from penstock.api.http.errors import handle_errors
from penstock.api.http.identify import Authenticator
from penstock.api.http.middleware import RequestMiddleware
from penstock.api.http.versions import operation_id
from penstock.api.http.work import ROUTES, Turns, name_of_route
from penstock.api.jobs import (
    batch,
    bulk,
    clone,
    column_values,
    control,
    dead_letters,
    edits,
    export,
    extraction,
    fix,
    held,
    items,
    jobs,
    pending,
    timeline,
    undo,
)
from penstock.api.live import events, websocket
from penstock.api.live.stream import Live
from penstock.api.live.tail import Tail
from penstock.api.lookup import enrichment, lookups
from penstock.api.monitor import extraction_monitor, health, history, metrics, monitor, queues
from penstock.api.notifications import alerts, notifications
from penstock.api.openapi import reference
from penstock.api.openapi.document import describe
from penstock.api.providers import imports, providers
from penstock.api.research import queries as research_queries
from penstock.api.research import research
from penstock.api.retention import retention
from penstock.api.schedules import schedules
from penstock.api.shops import connections, incoming, install
from penstock.api.sources import sources
from penstock.api.watchers import watchers
from penstock.api.webhooks import webhooks
from penstock.app.submission import Submissions
from penstock.engine.runtime import Runtime
from penstock.guards.cpu_budget import CpuBudget
from penstock.model.monitor.histogram import HistogramSet
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
    *(
        jobs,
        items,
        batch,
        files,
        resumable_uploads,
        extraction,
        pending,
        timeline,
        held,
        control,
        clone,
        fix,
        edits,
        column_values,
        undo,
        lookups,
        enrichment,
        profiles,
        saved_values,
        product_links,
        export_templates,
    ),
    *(export, events),
    *(product_filters, products, product_edits, pictures, imports),
    dead_letters,
    bulk,
    *(queues, monitor, history, alerts, notifications, extraction_monitor, providers),
    *(users, keys, sessions, orgs, audit),
    webhooks,
    *(install, connections),
    *(runs, pages, postings),
    *(sources, research, research_queries),
    watchers,
    *(schedules, retention, feeds),
)


class CostedRoute(APIRoute):
    """A route that knows which kind of work it is; one that `ROUTES` lacks cannot be made."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:
        super().__init__(path, endpoint, **more)
        self.work = ROUTES[name_of_route(self.methods or (), path)]


def _add(app: FastAPI, router: APIRouter, prefix: str = "", needed: Sequence[Depends] = ()) -> None:
    """The router's routes as the application's own. Routers within routers are looked through again
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


def create_app(runtime: Runtime, api_db: Database, export_db: Database | None = None) -> FastAPI:
    """Both databases must be open and of the role that row-level security binds."""
    app = routed()
    authenticator, turns = Authenticator(runtime.settings, api_db), Turns(runtime.settings)
    app.state.api = Api(
        runtime, api_db, authenticator, turns, export_db or api_db, Submissions(runtime, api_db)
    )
    app.state.live = Live(app.state.api, Tail(api_db, runtime.log))
    app.state.pulse = health.Pulse(api_db, runtime)
    app.state.feeds = serving.FeedLimits(runtime)
    app.state.pictures = pictures.Pictures(runtime)
    app.add_middleware(Web)
    app.state.cpu_budget = CpuBudget()
    app.add_middleware(
        CpuBudgetMiddleware, budget=app.state.cpu_budget, authenticator=authenticator
    )
    if runtime.settings.cors_origins:
        app.add_middleware(CORSMiddleware, **cross_origin(runtime.settings.cors_origins))
    app.state.request_times = HistogramSet(enabled=runtime.settings.histograms)
    app.add_middleware(
        RequestMiddleware, log=runtime.log, times=app.state.request_times, traces=runtime.traces
    )
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
    # The key is checked first: a request without one gets no other error.
    for resource in _RESOURCES:
        _add(app, resource.router, "/api", [Depends(principal), Depends(signing)])
    # Signing in needs no key.
    _add(app, session.router, "/api")
    # Shops sign their messages instead.
    _add(app, incoming.router, "/api")
    # The address of a feed is its secret.
    _add(app, serving.router)
    _add(app, health.router)
    _add(app, metrics.router, "", [Depends(principal)])
    _add(app, reference.router)
    app.include_router(websocket.router)
    describe(app)
    return app
