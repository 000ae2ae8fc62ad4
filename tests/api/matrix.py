"""Every route for every kind of caller: what must happen follows from the route itself.

The dependencies of a route say who may use it at all (`Reader`, `Writer`, `Admin`), the names in
its path whose things it is about. A new route needs a row in here only if it has a new kind of
thing in its path, a body without which it does nothing, or a rule of its own.
"""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

import httpx2
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from tests.api.conftest import Caller, client_of, file_of, submit_noop
from tests.api.test_dead_letters import failed
from tests.api.test_products import TOOLS, applied
from tests.fixtures import Bench

from penstock.api.http import access
from penstock.model.crawl.pages import KeepPage, KeepPosting
from penstock.model.ids import new_id
from penstock.store.accounts import accounts
from penstock.store.crawl import pages, postings
from penstock.store.database import Database
from penstock.store.monitor import alerts
from penstock.store.shops import connections

Level = Literal["open", "read", "write", "admin"]
# In this order: what those who may do to a thing, nobody who may not comes after.
CALLERS = ("none", "revoked", "viewer", "stranger", "colleague", "admin", "owner")
UNKNOWN = "00000000-0000-4000-8000-000000000000"
FINE = "fine"

# Who gets to see a thing that the owner has made. The owner always does.
SEEN_BY = {
    "job_id": {"viewer", "admin"},
    "item": {"viewer", "admin"},
    "operation_id": {"viewer", "admin"},
    "letter_id": {"viewer", "admin"},
    "product_id": {"viewer", "colleague", "admin"},
    "edit_id": {"viewer", "colleague", "admin"},
    "place": {"viewer", "colleague", "admin"},
    # By name, of the caller's own org: the admin's has another one.
    "name": {"viewer", "colleague"},
    "query_name": {"viewer", "colleague"},
    "user_id": {"admin"},
    "key_id": {"admin"},
    "session_id": {"admin"},
    "webhook_id": {"viewer", "colleague", "admin"},
    "delivery_id": {"viewer", "admin"},
    "notification_id": {"viewer", "colleague", "admin"},
    "alert_id": {"admin"},
    "upload_id": {"viewer", "admin"},
    "file_id": {"viewer", "admin"},
    "connection_id": {"viewer", "colleague", "admin"},
    "watcher_id": {"viewer", "colleague", "admin"},
    "watched_id": {"viewer", "colleague", "admin"},
    "source_id": {"viewer", "colleague", "admin"},
    "run_id": {"viewer", "admin"},
    "schedule_id": {"viewer", "colleague", "admin"},
    "feed_id": {"viewer", "colleague", "admin"},
    # The address is the key.
    "feed_file": {"viewer", "colleague", "stranger", "admin"},
    "page_id": {"viewer", "colleague", "admin"},
    "version": {"viewer", "colleague", "admin"},
    "posting_id": {"viewer", "colleague", "admin"},
    # Providers are known to all; each resets the circuits of their own org.
    "key": {"viewer", "colleague", "stranger", "admin"},
    # Only admins get as far as that.
    "lane": {"admin"},
}

# Rules of their own, with the reason.
_BY_MAKER_ONLY = dict.fromkeys(("colleague",), 403)
_WITH_A_SESSION_ONLY = dict.fromkeys(("viewer", "colleague", "stranger", "owner", "admin"), 403)
_ADMINS_KEYS_ONLY = dict.fromkeys(("colleague", "stranger", "owner"), 403)
SPECIAL: dict[str, dict[str, int]] = {
    # A key makes no keys, and changes no password.
    "POST /api/keys": _ADMINS_KEYS_ONLY,
    "POST /api/users/me/password": _WITH_A_SESSION_ONLY,
    # A key that only reads signs nobody out; a viewer's own browser does.
    "DELETE /api/sessions": {"viewer": 403},
    "DELETE /api/sessions/{session_id}": {"viewer": 403},
    # Whoever changes a webhook could lead other people's events astray.
    "PATCH /api/webhooks/{webhook_id}": _BY_MAKER_ONLY,
    "DELETE /api/webhooks/{webhook_id}": _BY_MAKER_ONLY,
    "POST /api/webhooks/{webhook_id}/rotate": _BY_MAKER_ONLY,
    "POST /api/webhooks/{webhook_id}/test": _BY_MAKER_ONLY,
    "PATCH /api/notifications/{notification_id}": _BY_MAKER_ONLY,
    "DELETE /api/notifications/{notification_id}": _BY_MAKER_ONLY,
    "POST /api/notifications/{notification_id}/test": _BY_MAKER_ONLY,
    "PUT /api/jobs/{job_id}/watch": dict.fromkeys(("stranger", "colleague"), 404),
    # The shop is connected to the owner's org.
    "POST /api/products/import": dict.fromkeys(("stranger", "admin"), 404),
    # All use a connection; its creator changes it.
    "PATCH /api/connections/{connection_id}": _BY_MAKER_ONLY,
    "DELETE /api/connections/{connection_id}": _BY_MAKER_ONLY,
    "POST /api/connections/{connection_id}/rotate": _BY_MAKER_ONLY,
    "DELETE /api/sources/{source_id}": _BY_MAKER_ONLY,
    "PATCH /api/watchers/{watcher_id}": _BY_MAKER_ONLY,
    "DELETE /api/watchers/{watcher_id}": _BY_MAKER_ONLY,
    "POST /api/watchers/{watcher_id}/rotate": _BY_MAKER_ONLY,
    "PUT /api/sources/{source_id}": {"colleague": 403, "stranger": 404},
    # A schedule runs under the rights of its creator.
    "DELETE /api/schedules/{schedule_id}": _BY_MAKER_ONLY,
    "PUT /api/schedules/{schedule_id}": {"colleague": 403, "stranger": 404},
    "POST /api/schedules/{schedule_id}/pause": _BY_MAKER_ONLY,
    "POST /api/schedules/{schedule_id}/resume": _BY_MAKER_ONLY,
    "POST /api/schedules/{schedule_id}/run": _BY_MAKER_ONLY,
    "DELETE /api/feeds/{feed_id}": _BY_MAKER_ONLY,
    "PUT /api/feeds/{feed_id}": {"colleague": 403, "stranger": 404},
    "POST /api/feeds/{feed_id}/rotate": _BY_MAKER_ONLY,
    # Signing in is for everyone, with the right password.
    "POST /api/session": dict.fromkeys(CALLERS, 401),
    # A shop signs its messages; no key helps.
    "POST /api/connections/{connection_id}/webhook": dict.fromkeys(CALLERS, 401),
}

# What a request must carry to be one.
_TUS = {"Tus-Resumable": "1.0.0"}
_NAMED = {"Upload-Length": "5", "Upload-Metadata": "filename YS5jc3Y="}
_PIECE = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
_ORDER = {"pipeline": "noop", "config": {"items": 1}}
_SHOP = {
    "provider": "roastify", "address": "http://127.0.0.1:9", "credentials": {"apiKey": "rty_test"},
}  # fmt: skip
_SOURCE = {
    "name": "source-{n}", "url": "http://127.0.0.1:9/search", "mapping": {"title": "name"},
}  # fmt: skip
# Without a test: there is no such folder.
_WATCHER = {
    "name": "incoming", "kind": "folder", "address": "incoming", "pattern": "*.csv", "test": False,
}  # fmt: skip
_RUN = {"companies": [{"company": "acme", "urls": ["http://127.0.0.1:9/p"]}]}
_SCHEDULE = {
    "name": "schedule-{n}", "cron": "0 6 * * *",
    "action": {"kind": "file", "url": "http://127.0.0.1:9/prices.csv"},
}  # fmt: skip
SENT: dict[str, dict[str, Any]] = {
    "POST /api/files": {"files": file_of()},
    "POST /api/uploads": {"headers": _TUS | _NAMED},
    "HEAD /api/uploads/{upload_id}": {"headers": _TUS},
    "PATCH /api/uploads/{upload_id}": {"headers": _TUS | _PIECE, "content": b"a,b\n1"},
    "DELETE /api/uploads/{upload_id}": {"headers": _TUS},
    "POST /api/extraction/jobs": {"files": file_of()},
    "POST /api/jobs": {"json": _ORDER},
    "POST /api/jobs/batch": {"json": {"jobs": [_ORDER, _ORDER]}},
    "POST /api/jobs/preview": {"files": file_of()},
    "POST /api/jobs/{job_id}/priority": {"json": {"priority": 7}},
    "PATCH /api/jobs/{job_id}/items/{item}": {"json": {"input": {"Price": "4"}}},
    "POST /api/jobs/{job_id}/items/{item}/choose": {"json": {"candidate": None}},
    "POST /api/jobs/{job_id}/items/fix": {
        "json": {"change": {"kind": "set", "column": "Price", "value": "4.44"}}
    },
    "POST /api/jobs/{job_id}/remap": {"json": {"config": {"intent": "check"}}},
    "PUT /api/profiles/{name}": {"json": {"decimal": "comma"}},
    "PUT /api/export-templates/{name}": {"json": {"columns": [{"column": "sku", "name": "SKU"}]}},
    "PUT /api/saved-values": {
        "json": {"source": "acme", "field": "brand", "word": "n.n.", "value": ""}
    },
    "DELETE /api/saved-values": {"params": {"source": "acme", "field": "brand", "word": "n.n."}},
    "POST /api/jobs/{job_id}/links": {"json": {"decision": "accept"}},
    "POST /api/product-links": {
        "json": {"decision": "accept", "pairs": [{"productId": UNKNOWN, "otherId": UNKNOWN}]}
    },
    "PATCH /api/products/{product_id}": {"json": {"fields": {"title": "Other"}}},
    "POST /api/dead-letters/reprocess": {"json": {"all": True}},
    "POST /api/dead-letters/discard": {"json": {"all": True, "reason": "old"}},
    "POST /api/dead-letters/{letter_id}/discard": {"json": {"reason": "old"}},
    "POST /api/bulk": {"json": {"action": "pause", "filter": {"pipeline": "noop"}}},
    "POST /api/pending/retry": {"json": {"all": True}},
    "POST /api/products/import/retry-failed": {"params": {"since": "2020-01-01T00:00:00Z"}},
    "POST /api/jobs/retry-failed": {"params": {"since": "2020-01-01T00:00:00Z"}},
    "POST /api/products/import": {"json": {"connectionId": "{shop}", "all": True}},
    "POST /api/runs": {"json": _RUN},
    "POST /api/runs/preview": {"json": {"url": "https://shop.example/p", "html": "<p>Lamp</p>"}},
    "POST /api/users": {"json": {"email": "new-{n}@acme"}},
    "PATCH /api/users/{user_id}": {"json": {"role": "viewer"}},
    "POST /api/users/me/password": {"json": {"current": "x", "new": "quite another one"}},
    "POST /api/keys": {"json": {"name": "nightly"}},
    "PATCH /api/org": {"json": {"sharedJobs": False}},
    "POST /api/orgs": {"json": {"name": "org-{n}"}},
    "POST /api/notifications": {"json": {"kind": "webhook", "address": "http://127.0.0.1:9/hook"}},
    "PATCH /api/notifications/{notification_id}": {"json": {"name": "other"}},
    "PUT /api/notifications/me": {"json": {"jobs": "none"}},
    "PUT /api/jobs/{job_id}/watch": {"json": {"watched": False}},
    "GET /api/jobs/{job_id}/column-values": {"params": {"column": "sku"}},
    "POST /api/monitor/alerts/{alert_id}/silence": {"json": {"minutes": 5}},
    "POST /api/webhooks": {"json": {"url": "http://127.0.0.1:9/hook"}},
    "PATCH /api/webhooks/{webhook_id}": {"json": {"description": "other"}},
    "POST /api/connections": {"json": _SHOP},
    "PATCH /api/connections/{connection_id}": {"json": {"name": "other"}},
    "POST /api/connections/{connection_id}/rotate": {
        "json": {"credentials": {"apiKey": "new"}, "test": False}
    },
    "POST /api/connections/demo": {"json": {}},
    "POST /api/connections/install": {
        "json": {"address": "my-shop", "returnTo": "https://p.example/connections/install"}
    },
    "POST /api/connections/install/complete": {"json": {"parameters": {"state": "x"}}},
    "POST /api/sources": {"json": _SOURCE},
    "POST /api/research": {"json": {"query": "bolt"}},
    "PUT /api/research/queries/{query_name}": {"json": {"query": "bolt"}},
    "PUT /api/research/quota": {"json": {"orgDay": 1000}},
    "PUT /api/sources/{source_id}": {"json": _SOURCE},
    "POST /api/sources/{source_id}/test": {"json": {"query": "bolt"}},
    "POST /api/schedules": {"json": _SCHEDULE},
    "POST /api/feeds": {"json": {"name": "feed-{n}"}},
    "PUT /api/feeds/{feed_id}": {"json": {"name": "feed-{n}"}},
    "PUT /api/retention": {"json": {"items": 30}},
    "POST /api/retention/prune": {"json": {"dryRun": False}},
    "POST /api/schedules/next-runs": {"json": {"cron": "0 6 * * *"}},
    "PUT /api/schedules/{schedule_id}": {"json": _SCHEDULE},
    "POST /api/watchers": {"json": _WATCHER},
    "PATCH /api/watchers/{watcher_id}": {"json": {"enabled": False}},
    "POST /api/watchers/{watcher_id}/rotate": {"json": {"credentials": {}, "test": False}},
    "POST /api/ingestion/scan": {"json": {}},
    "POST /api/session": {"json": {"email": "nobody@acme", "password": "x"}},
}

# Those who are heard over a socket have a test of their own.
WEBSOCKETS = {"/ws"}

# Changes that are none, with the reason; all others are written down.
CHANGES_NOTHING = {
    "POST /api/jobs/{job_id}/export": "it only reads",
    "POST /api/products/export": "it only reads",
    "POST /api/postings/export": "it only reads",
    "POST /api/runs/preview": "it only reads",
    "POST /api/schedules/next-runs": "it only reads",
    "POST /api/feeds/{feed_id}/build": "it writes a copy of what is there",
    "POST /api/jobs/{job_id}/links": "the job proposes no links",
    # Its own test has two products.
    "POST /api/product-links": "there are no such products",
    "POST /api/uploads": "it is a file once the last byte is there",
    "DELETE /api/uploads/{upload_id}": "what was no file yet is none",
    "DELETE /api/session": "a key has no session to end",
    "POST /api/session": "nobody was let in",
    "POST /api/users/me/password": "not with a key",
    "POST /api/connections/demo": "there is no sandbox here",
    "POST /api/sources/demo": "there is no sandbox here",
    "POST /api/products/import/retry-failed": "there is no import that failed",
    "POST /api/watchers/{watcher_id}/files/{watched_id}/retry": "there is no file that failed",
    "POST /api/connections/install": "nothing is connected before it is completed",
    "POST /api/connections/install/complete": "a forged answer connects nothing",
    # Its own test has a delivery that came to an end.
    "POST /api/webhooks/deliveries/{delivery_id}/redeliver": "a delivery that waits goes on anyway",
}
# Allowed, but this one is in no state for it.
_REACHED = {
    "POST /api/product-links": 404,
    "POST /api/connections/demo": 409,
    "POST /api/sources/demo": 409,
    "POST /api/watchers/{watcher_id}/files/{watched_id}/retry": 409,
    "POST /api/connections/install": 422,
    "POST /api/connections/install/complete": 403,
    "GET /api/connections/{connection_id}/products": 502,
    "POST /api/webhooks/deliveries/{delivery_id}/redeliver": 409,
    # It lies where nothing may be fetched from.
    "GET /api/products/{product_id}/images/{place}": 422,
}


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    level: Level

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def things(self) -> list[str]:
        """What its path names."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]

    @property
    def changes(self) -> bool:
        return self.method not in ("GET", "HEAD", "OPTIONS") and self.level != "open"

    def expected(self, caller: str) -> int | str:
        """The status, or FINE for any that says yes."""
        if self.name in SPECIAL and caller in SPECIAL[self.name]:
            return 401 if caller in ("none", "revoked") else SPECIAL[self.name][caller]
        if self.level == "open":
            return FINE
        if caller in ("none", "revoked"):
            return 401
        if self.level == "admin" and caller != "admin":
            return 403
        if self.level == "write" and caller == "viewer":
            return 403
        if caller != "owner" and any(caller not in SEEN_BY[thing] for thing in self.things):
            # A name that is not taken is free for everyone.
            return FINE if self.method == "PUT" else 404
        return _REACHED.get(self.name, FINE)


def routes_of(app: FastAPI) -> Iterator[Route]:
    for found in iter_route_contexts(app.routes):
        methods = getattr(found, "methods", None) or {"WEBSOCKET"}
        # What answers to GET answers to HEAD, too.
        for method in sorted(methods - {"HEAD"} or methods):
            yield Route(method, str(found.path), _level(found))


def _level(found: Any) -> Level:
    dependant = getattr(found, "dependant", None)
    asked = set() if dependant is None else set(_calls(dependant))
    for door, level in (
        (access._admin, "admin"),
        (access._writer, "write"),
        (access.principal, "read"),
    ):
        if door in asked:
            return level  # type: ignore[return-value]
    return "open"


def _calls(dependant: Any) -> Iterator[Any]:
    for one in dependant.dependencies:
        yield one.call
        yield from _calls(one)


@dataclass
class World:
    """An owner with things of their own, and everyone who might want them."""

    app: FastAPI
    bench: Bench
    db: Database
    clients: dict[str, httpx2.AsyncClient] = field(default_factory=dict)
    made: int = 0
    shop: str = ""
    edit: str = ""

    async def open(self, caller: Caller) -> World:
        self.clients = {
            "owner": await caller(),
            "viewer": await caller(role="viewer"),
            "colleague": await caller(email="colleague@acme"),
            "stranger": await caller("other"),
            "admin": await caller("house", role="admin"),
            "revoked": await caller(email="gone@acme"),
        }
        async with self.db.transaction() as conn:
            await conn.execute(
                "UPDATE api_keys SET revoked_at = now() WHERE user_id ="
                " (SELECT id FROM users WHERE email = 'gone@acme')"
            )
        self.clients["none"] = client_of(self.app, None)
        self.shop = await self._connected_shop()
        order = _SOURCE | {"name": "first"}
        made = await self.clients["owner"].post("/api/sources", json=order)
        assert made.status_code == 201, made.text
        return self

    async def _connected_shop(self) -> str:
        who, connection_id = self.bench.who, new_id()
        async with self.db.transaction() as conn:
            await connections.add_connection(
                conn,
                connections.NewConnection(
                    connection_id, who.org_id, who.user_id, "roastify", "Coffee",
                    "https://api.roastify.app", b"sealed",
                ),
            )  # fmt: skip
        return str(connection_id)

    async def ask(self, route: Route, by: str, path: str) -> httpx2.Response:
        self.made += 1
        sent = dict(SENT.get(route.name, {}))
        if "json" in sent:
            sent["json"] = {
                name: value.replace("{n}", str(self.made)).replace("{shop}", self.shop)
                if isinstance(value, str)
                else value
                for name, value in sent["json"].items()
            }
        return await self.clients[by].request(route.method, path, **sent)

    async def new_path(self, route: Route) -> str:
        """With new things of the owner's."""
        path = route.path
        for thing in route.things:
            kind = (
                thing
                if thing in ("item", "place", "version", "edit_id")
                else KIND_FOR.get(route.name, thing)
            )
            path = path.replace(f"{{{thing}}}", await MAKE[kind](self))
        return path

    def unknown_path(self, route: Route) -> str:
        path = route.path
        for thing in route.things:
            unknown = {"user_id": "987654321", "key_id": "987654321", "item": "1", "name": "none"}
            unknown |= {"place": "0", "version": "1"}
            path = path.replace(f"{{{thing}}}", unknown.get(thing, UNKNOWN))
        return path

    async def changes_by(self, email: str) -> int:
        async with self.db.acquire() as conn:
            return int(
                await conn.fetchval(
                    "SELECT count(*) FROM audit a JOIN users u ON u.id = a.user_id"
                    " WHERE u.email = $1",
                    email,
                )
            )


# Which kind of a thing it must be, for there to be anything to do.
KIND_FOR = {
    "GET /docs/{name}": "page",
    "DELETE /api/export-templates/{name}": "template",
    "GET /api/products/{product_id}/images/{place}": "pictured",
    "GET /api/extraction/jobs/{job_id}": "done_job",
    "POST /api/jobs/{job_id}/resume": "paused_job",
    "POST /api/schedules/{schedule_id}/resume": "paused_schedule",
    "POST /api/jobs/{job_id}/reprocess": "failed_job",
    "POST /api/jobs/{job_id}/undo": "done_job",
    "POST /api/jobs/{job_id}/remap": "done_job",
    "PATCH /api/jobs/{job_id}/items/{item}": "done_job",
    "POST /api/jobs/{job_id}/items/{item}/choose": "ambiguous_job",
    "POST /api/jobs/{job_id}/items/fix": "done_job",
    "POST /api/jobs/{job_id}/edits/undo": "edited_job",
    "PATCH /api/products/{product_id}": "new_product",
    "POST /api/products/{product_id}/edits/{edit_id}/undo": "edited_product",
    "POST /api/jobs/{job_id}/enrich": "done_job",
    "POST /api/jobs/{job_id}/proposals/accept": "proposing_job",
    "POST /api/jobs/{job_id}/proposals/refuse": "proposing_job",
}


async def _job(world: World) -> str:
    return await submit_noop(world.clients["owner"])


async def _done_job(world: World) -> str:
    return await applied(world.clients["owner"], world.bench, TOOLS)


async def _edited_job(world: World) -> str:
    job = await _done_job(world)
    world.made += 1
    change = {"kind": "set", "column": "Price", "value": f"7.{world.made:02}"}
    made = await world.clients["owner"].post(f"/api/jobs/{job}/items/fix", json={"change": change})
    assert made.status_code == 200, made.text
    await world.bench.work()
    return job


async def _ambiguous_job(world: World) -> str:
    """A lookup of a SKU that two sources have."""
    owner = world.clients["owner"]
    for source in ("one", "two"):
        await applied(owner, world.bench, TOOLS, source=source)
    order = {"pipeline": "lookup", "config": {"rows": [{"sku": "T-2"}]}}
    made = await owner.post("/api/jobs", json=order)
    await world.bench.work()
    return str(made.json()["jobId"])


async def _proposing_job(world: World) -> str:
    """Products of one source that another one knows more about."""
    owner = world.clients["owner"]
    world.made += 1
    more = b"SKU;Title;Brand;MPN;Description\nT-1;Saw;Bahco;N-1;Long and sharp\n"
    await applied(owner, world.bench, more, source=f"more-{world.made}")
    less = b"SKU;Title;Brand;MPN\nX-1;Saw;Bahco;N-1\n"
    job = await applied(owner, world.bench, less, source=f"less-{world.made}")
    made = await owner.post(f"/api/jobs/{job}/enrich", json={"fields": ["description"]})
    assert made.status_code == 202, made.text
    await world.bench.work()
    return str(made.json()["jobId"])


async def _paused_job(world: World) -> str:
    job = await submit_noop(world.clients["owner"])
    await world.clients["owner"].post(f"/api/jobs/{job}/pause")
    return job


async def _failed_job(world: World) -> str:
    job = await submit_noop(world.clients["owner"])
    await failed(world.clients["owner"], world.bench.runtime, job=job)
    return job


async def _run(world: World) -> str:
    made = await world.clients["owner"].post("/api/runs", json=_RUN)
    assert made.status_code == 202, made.text
    return str(made.json()["runId"])


async def _crawled_page(world: World) -> str:
    who, page_id, runtime = world.bench.who, new_id(), world.bench.runtime

    async def pieces() -> AsyncIterator[bytes]:
        yield gzip.compress(b"<p>Lamp</p>")

    blob = await runtime.blobs.put(pieces(), 1000)
    effect = KeepPage(
        page_id, "acme", f"https://shop.example/{page_id}", 1, True, "https://shop.example/p",
        "text/html", None, None, blob.key, "sha", 11, 0,
    )  # fmt: skip
    async with world.db.transaction() as conn:
        await pages.save_page(conn, who.org_id, new_id(), 1, effect)
    return str(page_id)


async def _version(world: World) -> str:
    return "1"


async def _posting(world: World) -> str:
    page_id, who = UUID(await _crawled_page(world)), world.bench.who
    posting = KeepPosting(page_id, "acme", "https://shop.example/j", {"title": "Fitter"})
    async with world.db.transaction() as conn:
        await postings.save(conn, who.org_id, new_id(), 1, posting)
        found = await conn.fetchval("SELECT id FROM postings WHERE page_id = $1", page_id)
    return str(found)


async def _provider(world: World) -> str:
    return "shopify"


async def _item(world: World) -> str:
    return "1"


async def _operation(world: World) -> str:
    order = {"action": "pause", "filter": {"pipeline": "gate"}}
    made = await world.clients["owner"].post("/api/bulk", json=order)
    return str(made.json()["operationId"])


async def _letter(world: World) -> str:
    return await failed(world.clients["owner"], world.bench.runtime)


async def _product(world: World) -> str:
    await applied(world.clients["owner"], world.bench, TOOLS)
    listed = await world.clients["owner"].get("/api/products")
    return str(listed.json()["items"][0]["id"])


async def _new_product(world: World) -> str:
    world.made += 1
    content = f"SKU;Title\nN-{world.made};Saw\n".encode()
    await applied(world.clients["owner"], world.bench, content)
    found = await world.clients["owner"].get("/api/products", params={"sku": f"N-{world.made}"})
    return str(found.json()["items"][0]["id"])


async def _edited_product(world: World) -> str:
    product = await _new_product(world)
    order = {"fields": {"title": "Other"}}
    edited = await world.clients["owner"].patch(f"/api/products/{product}", json=order)
    world.edit = str(edited.json()["editId"])
    return product


async def _edit(world: World) -> str:
    """Of the product that was made before it."""
    return world.edit


async def _pictured(world: World) -> str:
    pictured = b"SKU;Title;Image\nP-1;Saw;http://10.0.0.1/saw.png\n"
    await applied(world.clients["owner"], world.bench, pictured)
    listed = await world.clients["owner"].get("/api/products", params={"sku": "P-1"})
    return str(listed.json()["items"][0]["id"])


async def _place(world: World) -> str:
    return "0"


async def _template(world: World) -> str:
    world.made += 1
    name = f"shop-{world.made}"
    order = {"columns": [{"column": "sku", "name": "SKU"}]}
    made = await world.clients["owner"].put(f"/api/export-templates/{name}", json=order)
    assert made.status_code == 200, made.text
    return name


async def _profile(world: World) -> str:
    world.made += 1
    name = f"tools-{world.made}"
    made = await world.clients["owner"].put(f"/api/profiles/{name}", json={"decimal": "comma"})
    assert made.status_code == 200, made.text
    return name


async def _saved_query(world: World) -> str:
    world.made += 1
    name = f"bolts {world.made}"
    path = f"/api/research/queries/{name}"
    made = await world.clients["owner"].put(path, json={"query": "bolt"})
    assert made.status_code == 200, made.text
    return name


async def _user(world: World) -> str:
    async with world.db.transaction() as conn:
        org = await accounts.ensure_org(conn, "acme")
        world.made += 1
        user = await accounts.add_user(conn, org.id, f"user-{world.made}@acme", "member")
    return str(user.id)


async def _key(world: World) -> str:
    async with world.db.transaction() as conn:
        owner = await accounts.find_user(conn, "member@acme")
        assert owner is not None
        key_id, _ = await accounts.add_key(conn, owner.org_id, owner.id)
    return str(key_id)


async def _session(world: World) -> str:
    async with world.db.transaction() as conn:
        owner = await accounts.find_user(conn, "member@acme")
        assert owner is not None
        made = await conn.fetchval(
            "INSERT INTO sessions (id, org_id, user_id, hash, idle_until, expires_at) VALUES"
            " (gen_random_uuid(), $1, $2, sha256(gen_random_uuid()::text::bytea),"
            "  now() + interval '1 hour', now() + interval '1 hour') RETURNING id",
            owner.org_id,
            owner.id,
        )
    return str(made)


async def _webhook(world: World) -> str:
    order = {"url": "http://127.0.0.1:9/hook"}
    made = await world.clients["owner"].post("/api/webhooks", json=order)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def _notification(world: World) -> str:
    order = {"kind": "webhook", "address": "http://127.0.0.1:9/hook"}
    made = await world.clients["owner"].post("/api/notifications", json=order)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def _alert(world: World) -> str:
    alert_id = new_id()
    async with world.db.transaction() as conn:
        await conn.execute("UPDATE alerts SET resolved_at = now() WHERE resolved_at IS NULL")
        new = alerts.NewAlert(alert_id, "depth", "health.warning", "warning", "Too long.")
        assert await alerts.add_alert(conn, new)
    return str(alert_id)


async def _delivery(world: World) -> str:
    webhook = await _webhook(world)
    made = await world.clients["owner"].post(f"/api/webhooks/{webhook}/test")
    return str(UUID(made.json()["deliveryId"]))


async def _connection(world: World) -> str:
    world.made += 1
    # A shop of its own, so that failures of another one do not slow its calls down.
    order = _SHOP | {"address": f"http://127.0.0.1:9/{world.made}"}
    made = await world.clients["owner"].post("/api/connections", json=order)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def _source(world: World) -> str:
    world.made += 1
    order = _SOURCE | {"name": f"made-{world.made}"}
    made = await world.clients["owner"].post("/api/sources", json=order)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def _schedule(world: World) -> str:
    world.made += 1
    order = _SCHEDULE | {"name": f"made-{world.made}"}
    made = await world.clients["owner"].post("/api/schedules", json=order)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def _watcher(world: World) -> str:
    made = await world.clients["owner"].post("/api/watchers", json=_WATCHER)
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def _feed(world: World) -> str:
    world.made += 1
    made = await world.clients["owner"].post("/api/feeds", json={"name": f"made-{world.made}"})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


async def _feed_file(world: World) -> str:
    world.made += 1
    made = await world.clients["owner"].post("/api/feeds", json={"name": f"made-{world.made}"})
    return str(made.json()["paths"]["csv"]).removeprefix("/feeds/")


async def _paused_schedule(world: World) -> str:
    made = await _schedule(world)
    await world.clients["owner"].post(f"/api/schedules/{made}/pause")
    return made


async def _watched(world: World) -> str:
    return UNKNOWN


async def _file(world: World) -> str:
    made = await world.clients["owner"].post("/api/files", files=file_of())
    return str(made.json()["id"])


async def _upload(world: World) -> str:
    made = await world.clients["owner"].post("/api/uploads", headers=_TUS | _NAMED)
    return str(made.headers["location"].rpartition("/")[2])


async def _page(world: World) -> str:
    return "reference.css"


async def _lane(world: World) -> str:
    return "basic"


MAKE: dict[str, Callable[[World], Awaitable[str]]] = {
    "job_id": _job,
    "run_id": _run,
    "page_id": _crawled_page,
    "version": _version,
    "posting_id": _posting,
    "done_job": _done_job,
    "edited_job": _edited_job,
    "ambiguous_job": _ambiguous_job,
    "proposing_job": _proposing_job,
    "paused_job": _paused_job,
    "failed_job": _failed_job,
    "item": _item,
    "operation_id": _operation,
    "letter_id": _letter,
    "product_id": _product,
    "new_product": _new_product,
    "edited_product": _edited_product,
    "edit_id": _edit,
    "pictured": _pictured,
    "place": _place,
    "name": _profile,
    "query_name": _saved_query,
    "template": _template,
    "user_id": _user,
    "key_id": _key,
    "session_id": _session,
    "webhook_id": _webhook,
    "notification_id": _notification,
    "alert_id": _alert,
    "delivery_id": _delivery,
    "upload_id": _upload,
    "file_id": _file,
    "connection_id": _connection,
    "watcher_id": _watcher,
    "watched_id": _watched,
    "source_id": _source,
    "schedule_id": _schedule,
    "feed_id": _feed,
    "feed_file": _feed_file,
    "paused_schedule": _paused_schedule,
    "page": _page,
    "lane": _lane,
    "key": _provider,
}
