"""The application over the real database, callers with keys, and a server on a real port."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from copy import copy
from functools import cache
from typing import Any, ClassVar, TypeVar

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from starlette.datastructures import State

from penstock.accounts.passwords import hash_password
from penstock.api.app import create_app, routed
from penstock.api.http.schemas import Problem
from penstock.api.http.server import server_config
from penstock.engine.runtime import Runtime
from penstock.model.outcomes import Done, Outcome
from penstock.model.pipeline import Config, Item, Job, Pipeline, Row, RowBatch, Stage
from penstock.model.ports import Context
from penstock.pipelines.registry import known_pipelines
from penstock.settings import Settings
from penstock.store.accounts import accounts, sessions
from penstock.store.database import Database
from penstock.wiring import api_database, open_runtime

MAX_FILE_BYTES = 100_000
PASSWORD = "correct horse battery"
CSV = b"sku,title,price\n1,Hammer,9.90\n2,=Nail,5\n"
Shape = TypeVar("Shape", bound=BaseModel)


def shaped(model: type[Shape], answer: httpx2.Response, status: int = 200) -> Shape:
    """The answer, held to what the API's document says of it."""
    assert answer.status_code == status, answer.text
    return model.model_validate_json(answer.content)


def refused(answer: httpx2.Response, status: int, code: str) -> Problem:
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = Problem.model_validate_json(answer.content)
    assert problem.status == status
    assert problem.request_id == answer.headers["x-request-id"]
    return problem


class GateConfig(Config):
    items: int = 3


class Gate(Pipeline):
    """Work that says when it has begun, and goes on when it is told to."""

    name: ClassVar[str] = "gate"
    Config: ClassVar[type[Config]] = GateConfig

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.open = asyncio.Event()
        self.worked: list[int] = []

    def stages(self, config: Any) -> tuple[Stage, ...]:
        return (Stage("wait", run=self._wait),)

    async def _wait(self, batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
        self.begun.set()
        self.worked += [item.row_no for item in batch]
        await self.open.wait()
        return [Done({"row": item.row_no}) for item in batch]

    def inline(self, config: Any) -> Sequence[Row]:
        return [Row({"n": number}) for number in range(config.items)]

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        raise AssertionError("all rows are inline")
        yield


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"max_file_bytes": MAX_FILE_BYTES})


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
async def runtime(
    settings: Settings, owner_dsn: str, db: Database, gate: Gate
) -> AsyncIterator[Runtime]:
    known = known_pipelines(with_test_pipelines=settings.test_pipelines)
    pipelines = {**known, gate.name: gate}
    async with open_runtime(settings, owner_dsn, name="test", pipelines=pipelines) as made:
        yield made


@pytest.fixture
async def api_db(settings: Settings, api_dsn: str, db: Database) -> AsyncIterator[Database]:
    database = await api_database(settings, api_dsn).open()
    yield database
    await database.close()


_routed_once = cache(routed)


@pytest.fixture(autouse=True)
def shared_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Routes hold nothing of a test, and take a quarter of a second to make."""

    def fresh() -> FastAPI:
        app = copy(_routed_once())
        app.state = State()
        app.user_middleware = []
        return app

    monkeypatch.setattr("penstock.api.app.routed", fresh)


@pytest.fixture
def app(runtime: Runtime, api_db: Database, shared_routes: None) -> FastAPI:
    return create_app(runtime, api_db)


Caller = Callable[..., Awaitable[httpx2.AsyncClient]]


@pytest.fixture
async def caller(app: FastAPI, db: Database) -> AsyncIterator[Caller]:
    """A client with a key of its own: ``await caller("acme", role="viewer")``."""
    async with AsyncExitStack() as stack:

        async def call(
            org: str = "acme", role: str = "member", email: str = "", plan: str = "standard"
        ) -> httpx2.AsyncClient:
            async with db.acquire() as conn:
                row = await accounts.ensure_org(conn, org, plan)
                user = await accounts.ensure_user(conn, row.id, email or f"{role}@{org}", role)
                key = await accounts.create_key(conn, row.id, user.id)
            return await stack.enter_async_context(client_of(app, key))

        yield call


def client_of(app: FastAPI, key: str | None) -> httpx2.AsyncClient:
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url="http://penstock", headers=headers
    )


@pytest.fixture
async def client(caller: Caller) -> httpx2.AsyncClient:
    """The member that `bench` acts as, too."""
    return await caller()


@pytest.fixture
async def port(app: FastAPI, settings: Settings) -> AsyncIterator[int]:
    """The application behind a real server, for what only a connection shows."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = server_config(app, settings, log_level="critical")
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    try:
        yield listener.getsockname()[1]
    finally:
        await server.shutdown(sockets=[listener])


def file_of(content: bytes = CSV, name: str = "goods.csv") -> dict[str, Any]:
    return {"file": (name, content, "text/csv")}


async def submit_noop(client: httpx2.AsyncClient, items: int = 3, **more: Any) -> str:
    order = {"pipeline": "noop", "config": {"items": items}} | more
    answer = await client.post("/api/jobs", json=order)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["jobId"])


MakePerson = Callable[..., Awaitable[str]]


@pytest.fixture
def person(db: Database) -> MakePerson:
    """Someone with a password: ``await person("ann@acme", role="viewer")``."""

    async def make(email: str = "ann@acme", role: str = "member") -> str:
        hashed = await hash_password(PASSWORD)
        async with db.transaction() as conn:
            org = await accounts.ensure_org(conn, email.partition("@")[2].lower())
            user = await accounts.ensure_user(conn, org.id, email, role)
            await sessions.set_password(conn, user.id, org.id, hashed)
        return email

    return make


Browser = Callable[[], Awaitable[httpx2.AsyncClient]]


@pytest.fixture
async def browser(app: FastAPI) -> AsyncIterator[Browser]:
    async with AsyncExitStack() as stack:

        async def open_one() -> httpx2.AsyncClient:
            return await stack.enter_async_context(client_of(app, None))

        yield open_one
