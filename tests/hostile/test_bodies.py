"""Every route, wrong in one place at a time: no answer is 5xx, whatever is sent."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller
from tests.api.matrix import Route, World, routes_of
from tests.fixtures import Bench
from tests.hostile.requests import Hostile, hostile_requests

from penstock.guards.fetch import Fetcher
from penstock.model.network.fetching import FetchPurpose
from penstock.settings import Settings
from penstock.store.database import Database

# They answer for as long as they are listened to.
STREAMS = {"GET /api/events", "GET /api/jobs/{job_id}/events"}
# Changing these would change who asks.
LEFT_ALONE = {"DELETE /api/session", "DELETE /api/sessions"}
SHORT = 1000
LONG = 20_000


@pytest.fixture
def settings(settings: Settings) -> Settings:
    limits = ("sign_in_failures", "sign_in_failures_account", "sign_in_failures_network")
    loose = {**dict.fromkeys(limits, 10**6), "global_pending": True, "preview_seconds": 5.0}
    local = "127.0.0.0/8"
    allowed = {"webhook_allow": local, "provider_allow": local, "fetch_allow": local}
    watched = {"watch_roots": (str(settings.data_dir),)}
    return settings.model_copy(update={**loose, **allowed, **watched})


async def no_names(host: str, port: int) -> list[str]:
    """Hostile names are asked of nobody outside of this machine."""
    return [host] if host == "127.0.0.1" else []


@pytest.fixture
async def world(
    app: FastAPI, bench: Bench, db: Database, caller: Caller, settings: Settings
) -> AsyncIterator[World]:
    fetchers = {
        purpose: Fetcher(settings.fetch_exempt(purpose), resolver=no_names)
        for purpose in FetchPurpose
    }
    object.__setattr__(bench.runtime, "fetchers", fetchers)
    yield await World(app, bench, db).open(caller)
    for fetcher in fetchers.values():
        await fetcher.close()


def all_requests(app: FastAPI) -> list[Hostile]:
    document = app.openapi()
    paths = document["paths"]
    found: list[Hostile] = []
    for route in routes_of(app):
        operation = paths.get(route.path, {}).get(route.method.lower())
        if operation is not None and route.name not in STREAMS | LEFT_ALONE:
            found += hostile_requests(route, _resolved(operation, document))
    return found


def _resolved(operation: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    """Its parameters, where the document only refers to them."""
    parameters = []
    for one in operation.get("parameters", ()):
        found = one
        for step in one.get("$ref", "").split("/")[1:]:
            found = document[step] if found is one else found[step]
        parameters.append(found)
    return {**operation, "parameters": parameters}


def chosen(requests: Sequence[Hostile], count: int, seed: int = 1) -> list[Hostile]:
    """Some of each route and place, in the order of the routes."""
    chance = random.Random(seed)
    by_place: dict[tuple[str, str], list[Hostile]] = {}
    for one in requests:
        by_place.setdefault((one.route.name, one.about), []).append(one)
    share = count / len(requests)
    picked: list[Hostile] = []
    for group in by_place.values():
        wanted = max(1, round(len(group) * share))
        picked += chance.sample(group, min(len(group), wanted))
    return picked


# What an org may have some dozens of, and what each is addressed by.
_FEW = {
    "/api/connections": "id", "/api/export-templates": "name", "/api/feeds": "id",
    "/api/notifications": "id", "/api/research/queries": "name", "/api/schedules": "id",
    "/api/sources": "id", "/api/watchers": "id", "/api/webhooks": "id",
}  # fmt: skip


class Sender:
    """Sends them to things that are there, and makes new ones where one is used up."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._paths: dict[str, str] = {}
        self.statuses: Counter[int] = Counter()
        self.broken: list[str] = []

    async def send(self, one: Hostile) -> None:
        route = one.route
        by = "owner" if route.level in ("read", "write") and route.path != "/api/org" else "admin"
        path = await self._path(route, one.replaced)
        url = f"{path}?{one.query}" if one.query else path
        headers = [(name.encode(), text.encode("latin-1")) for name, text in one.headers.items()]
        client = self._world.clients[by]
        own = [] if "Authorization" in one.headers else [
            (b"Authorization", client.headers["authorization"].encode())
        ]  # fmt: skip
        request = httpx2.Request(
            route.method, httpx2.URL(f"http://penstock{url}"), headers=[*own, *headers],
            content=one.body,
        )  # fmt: skip
        try:
            async with asyncio.timeout(30):
                answer = await client._transport.handle_async_request(request)
                await answer.aread()
        except Exception as error:  # an answer that breaks off is broken, too
            self.broken.append(f"{error!r} {route.method} {url[:200]} {one.about} {one.headers}")
            return
        self.statuses[answer.status_code] += 1
        # A shop that does not answer is the shop's fault, and said so.
        is_shop = answer.status_code == 502 and route.path.startswith("/api/connections/")
        if answer.status_code >= 500 and not is_shop:
            shown = "" if one.body is None else repr(one.body[:200])
            self.broken.append(
                f"{answer.status_code} {route.method} {url[:200]} {one.about} {one.headers} {shown}"
            )
        if answer.status_code < 300 and route.changes:
            self._paths.pop(route.name, None)
            await self._cancel(answer)

    async def _make_room(self, things: str) -> None:
        """An org has few of them."""
        owner = self._world.clients["owner"]
        listed = (await owner.get(things)).json()["items"]
        for one in listed if len(listed) > 40 else ():
            await owner.delete(f"{things}/{quote(one[_FEW[things]], safe='')}")

    async def _cancel(self, answer: httpx2.Response) -> None:
        """Jobs that were made of it would be worked on whenever another thing is made."""
        made = answer.json() if answer.status_code == 202 and answer.content else {}
        if "jobId" in made:
            await self._world.clients["admin"].post(f"/api/jobs/{made['jobId']}/cancel")

    async def _path(self, route: Route, replaced: tuple[str, str] | None) -> str:
        if replaced is not None:
            thing, text = replaced
            return self._world.unknown_path(_with(route, thing, text))
        if route.name not in self._paths:
            for things in _FEW:
                if route.path.startswith(things):
                    await self._make_room(things)
            self._paths[route.name] = await self._world.new_path(route)
        return self._paths[route.name]


def _with(route: Route, thing: str, text: str) -> Route:
    return Route(route.method, route.path.replace(f"{{{thing}}}", text), route.level)


async def no_answer_is_broken(world: World, requests: Sequence[Hostile]) -> Sender:
    sender = Sender(world)
    for one in requests:
        await sender.send(one)
    told = ", ".join(f"{count:,} × {status}" for status, count in sorted(sender.statuses.items()))
    print(f"{sender.statuses.total():,} requests: {told}")
    assert sender.broken == [], "\n".join(sender.broken[:60])
    return sender


@pytest.mark.timeout(120)
async def test_some_of_every_place(app: FastAPI, world: World) -> None:
    sender = await no_answer_is_broken(world, chosen(all_requests(app), SHORT))
    assert sender.statuses.total() >= SHORT


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_twenty_thousand_requests(app: FastAPI, world: World) -> None:
    requests = all_requests(app)
    sender = await no_answer_is_broken(world, requests)
    assert sender.statuses.total() >= LONG
