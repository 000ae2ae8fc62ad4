"""All routes for every kind of caller, derived from the routes: nobody can forget a new one."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller
from tests.api.matrix import (
    CALLERS,
    CHANGES_NOTHING,
    FINE,
    MAKE,
    SEEN_BY,
    SENT,
    SPECIAL,
    WEBSOCKETS,
    Route,
    World,
    routes_of,
)
from tests.api.test_access import plain
from tests.fixtures import Bench

from penstock.api.http.work import LIGHT, OPEN, PREVIEW, ROUTES, work_kinds
from penstock.settings import Settings
from penstock.store.database import Database


@pytest.fixture
def settings(settings: Settings) -> Settings:
    loose = {
        "fetch_allow": "127.0.0.0/8",
        "webhook_allow": "127.0.0.0/8",
        "provider_allow": "127.0.0.0/8",
        "watch_roots": (str(settings.data_dir),),
        "sandbox_url": "http://127.0.0.1:9",
        "sign_in_failures_network": 100_000,
        "global_pending": True,
    }
    return settings.model_copy(update=loose)


@pytest.fixture
async def world(app: FastAPI, bench: Bench, db: Database, caller: Caller) -> World:
    return await World(app, bench, db).open(caller)


def heard_over_http(app: FastAPI) -> list[Route]:
    return [route for route in routes_of(app) if route.method != "WEBSOCKET"]


def test_every_route_is_known(app: FastAPI) -> None:
    routes = list(routes_of(app))
    names = {route.name for route in routes}
    assert {route.path for route in routes if route.method == "WEBSOCKET"} == WEBSOCKETS
    things = {thing for route in routes for thing in route.things}
    assert things <= set(SEEN_BY), "say in tests/api/matrix.py who sees it, and how it is made"
    assert things <= set(MAKE)
    for table in (SPECIAL, SENT, CHANGES_NOTHING):
        assert set(table) <= names, "a route of this table is gone"
    open_to_all = {route.name for route in heard_over_http(app) if route.level == "open"}
    assert open_to_all == {
        *(
            "GET /",
            "GET /health",
            "GET /health/queue",
            "GET /health/live",
            "GET /health/ready",
            "GET /openapi.json",
        ),
        *("GET /docs", "GET /docs/{name}"),
        "POST /api/session",
        # Signed by the shop.
        "POST /api/connections/{connection_id}/webhook",
        # The address is the key.
        "GET /feeds/{feed_file}",
    }, "these need no key: is that meant?"


def test_every_route_says_what_it_costs(app: FastAPI) -> None:
    """`CostedRoute` refuses a route without a kind of work; this asks the table itself."""
    routes = list(routes_of(app))
    names = {route.name.replace("WEBSOCKET", "WS") for route in routes}
    assert set(ROUTES) == names, "write it into penstock/api/http/work.py, or take it out"
    kinds = {*work_kinds(Settings()), OPEN}
    assert set(ROUTES.values()) | {PREVIEW} == kinds
    without_key = {route.name for route in heard_over_http(app) if route.level == "open"}
    assert {name for name, work in ROUTES.items() if work == OPEN} == without_key
    # What reads or writes many bytes or rows in one request is not light.
    heavy = ("export", "preview", "images", "undo", "reprocess", "remap", "kickoff", "files")
    for name, work in ROUTES.items():
        last = name.rpartition("/")[2]
        assert work != LIGHT or last not in heavy, name


@pytest.mark.timeout(300)
async def test_every_route_for_every_caller(app: FastAPI, world: World) -> None:
    table, wrong = [], []
    for route in heard_over_http(app):
        row, path = [], await world.new_path(route)
        for caller in CALLERS:
            expected = route.expected(caller)
            answer = await world.ask(route, caller, path)
            if route.changes and expected == FINE:
                path = await world.new_path(route)
            status = answer.status_code
            right = status < 300 if expected == FINE else status == expected
            if right and status == 404:
                unknown = await world.ask(route, caller, world.unknown_path(route))
                right = plain(answer) == plain(unknown)
            row.append(f"{status}{'' if right else '!'}")
            if not right:
                wrong.append(f"{route.name} by {caller}: {expected}, not {answer.text[:300]}")
        table.append((route.name, route.level, row))
    width = max(len(name) for name, _, _ in table)
    print(f"{'':{width}}  {'':6}", *(f"{caller:9}" for caller in CALLERS))
    for name, level, row in table:
        print(f"{name:{width}}  {level:6}", *(f"{cell:9}" for cell in row))
    print(f"{len(table)} routes × {len(CALLERS)} callers, {len(wrong)} not as expected")
    assert wrong == []


@pytest.mark.timeout(300)
async def test_every_change_is_written_down(app: FastAPI, world: World) -> None:
    silent = []
    emails = {"owner": "member@acme", "admin": "admin@house"}
    for route in heard_over_http(app):
        if not route.changes or route.name in CHANGES_NOTHING:
            continue
        by = next(one for one in emails if route.expected(one) == FINE)
        path = await world.new_path(route)
        if "dead-letters" in route.path:
            await MAKE["letter_id"](world)
        before = await world.changes_by(emails[by])
        answer = await world.ask(route, by, path)
        assert answer.status_code < 300, f"{route.name}: {answer.text}"
        if await world.changes_by(emails[by]) == before:
            silent.append(route.name)
    assert silent == [], "these change something, and the audit says nothing of it"


async def test_everything_that_belongs_to_an_org_is_behind_a_policy(db: Database) -> None:
    async with db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT c.relname AS name, c.relrowsecurity AS guarded,"
            " array_agg(DISTINCT p.polname::text) FILTER (WHERE r.rolname = 'penstock_api') AS api,"
            " array_agg(DISTINCT p.polname::text) FILTER (WHERE r.rolname = 'penstock_admin')"
            " AS admin"
            " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id'"
            " LEFT JOIN pg_policy p ON p.polrelid = c.oid"
            " LEFT JOIN pg_roles r ON r.oid = ANY (p.polroles)"
            " WHERE c.relkind IN ('r', 'p') AND NOT a.attisdropped"
            " AND c.relnamespace = current_schema()::regnamespace"
            " GROUP BY c.relname, c.relrowsecurity ORDER BY 1"
        )
        reading = await conn.fetch(
            "SELECT table_name AS name FROM information_schema.role_table_grants"
            " WHERE grantee = 'penstock_api' AND table_schema = current_schema()"
        )
    assert len(rows) > 15
    may_touch = {row["name"] for row in reading}
    for row in rows:
        assert row["guarded"], row["name"]
        if row["name"] in may_touch:
            assert row["api"], f"{row['name']} has no policy for the API's role"
            assert set(row["api"]) <= {"own_org", "own_rows", "own_new"}, row["name"]
            assert row["admin"] == ["all_orgs"], row["name"]
