"""Canaries: secrets are forced through every error there is, and come out nowhere."""

from __future__ import annotations

import asyncio
import io
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlsplit

import asyncpg
import httpx2
import pytest
import structlog
from pydantic import SecretStr
from tests.api.conftest import Caller
from tests.engine.receiving import Receiver, all_due, receiving, tell
from tests.fixtures import Bench

from penstock.engine.runtime import Runtime
from penstock.engine.services.service import run_service
from penstock.guards.sealing import Sealer, new_key
from penstock.logs import configure_logging, get_logger
from penstock.model.errors import PermanentError, Unavailable
from penstock.model.network.fetching import FetchPurpose
from penstock.model.outcomes import Done, Outcome
from penstock.model.pipeline import Config, Item, Job, Pipeline, Row, RowBatch, Stage, Traits, each
from penstock.model.ports import Context, Receivers
from penstock.pipelines.registry import PIPELINES, TEST_PIPELINES
from penstock.settings import Settings
from penstock.store.database import Database
from penstock.store.jobs import jobs
from penstock.store.webhooks import StoredReceivers
from penstock.wiring import database_addresses, open_runtime

PASSWORD = "canary-Passw0rd-Xy7q"


@dataclass
class Canaries:
    """Every secret by its name, and texts in which a careless program would tell them."""

    secrets: dict[str, str] = field(default_factory=dict)
    # All that was answered.
    answers: list[str] = field(default_factory=list)

    def text(self) -> str:
        told = "; ".join(f"{name}={secret}" for name, secret in self.secrets.items())
        key, dsn = self.secrets["api_key"], self.secrets["dsn_password"]
        return f"{told} Bearer {key} postgresql://penstock:{dsn}@db/x {{'secret': '{key}'}}"

    def found_in(self, text: str) -> list[str]:
        return [name for name, secret in self.secrets.items() if secret in text]


class LeakyConfig(Config):
    where: str = "stage"


class Leaky(Pipeline):
    """Says everything it knows when anything goes wrong."""

    name: ClassVar[str] = "leaky"
    Config: ClassVar[type[Config]] = LeakyConfig

    def __init__(self, canaries: Canaries) -> None:
        self._canaries = canaries

    def stages(self, config: Any) -> tuple[Stage, ...]:
        if config.where == "batch":
            return (Stage("leak", run=self._batch),)
        return (Stage("leak", run=each(self._item)),)

    def traits(self, config: Any) -> Traits:
        return Traits(summarizes=config.where == "summary")

    async def _batch(self, batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
        raise RuntimeError(self._canaries.text())

    async def _item(self, item: Item, ctx: Context) -> Outcome:
        told = self._canaries.text()
        ctx.log.warning(told, told=told, nested={"api_key": [told]}, error=RuntimeError(told))
        match item.job.config.where:
            case "permanent":
                raise PermanentError("VALIDATION_ERROR", told, told=told, token=told)
            case "transient":
                raise Unavailable("NETWORK_ERROR", told, nested=[told])
            case "stage":
                raise RuntimeError(told)
        return Done({"fine": True})

    async def rows(
        self, job: Job, ctx: Context, cursor: Mapping[str, Any] | None
    ) -> AsyncGenerator[RowBatch, None]:
        if job.config.where == "rows":
            told = self._canaries.text()
            raise PermanentError("FILE_NOT_FOUND", told, told=[told])
        if job.config.where == "bug":
            raise ValueError(self._canaries.text())
        yield RowBatch([Row({"n": 1})], {"next": 1})

    async def summarize(self, job: Job, ctx: Context) -> Mapping[str, Any]:
        raise PermanentError("INVALID_CONFIG", self._canaries.text())


@pytest.fixture
def canaries(owner_dsn: str) -> Canaries:
    password = urlsplit(owner_dsn).password
    assert password
    return Canaries({"dsn_password": password, "seal_key": new_key(), "password": PASSWORD})


@pytest.fixture
def settings(settings: Settings, canaries: Canaries, owner_dsn: str) -> Settings:
    return settings.model_copy(
        update={
            "webhook_allow": "127.0.0.0/8",
            "secret_key": SecretStr(canaries.secrets["seal_key"]),
            "database_url": SecretStr(owner_dsn),
        }
    )


@pytest.fixture
async def runtime(
    settings: Settings, owner_dsn: str, db: Database, canaries: Canaries
) -> AsyncIterator[Runtime]:
    pipelines = {one.name: one for one in (*PIPELINES, *TEST_PIPELINES, Leaky(canaries))}
    async with (
        database_addresses(settings),
        open_runtime(settings, owner_dsn, name="test", pipelines=pipelines) as made,
    ):
        yield made


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """All that is logged, as a server logs it."""
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    before = structlog.get_config()
    configure_logging("debug", json=True)
    yield written
    structlog.configure(**before)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as made:
        yield made


@pytest.fixture
async def client(caller: Caller, canaries: Canaries) -> httpx2.AsyncClient:
    made = await caller()
    canaries.secrets["api_key"] = made.headers["authorization"].removeprefix("Bearer ")

    async def note(answer: httpx2.Response) -> None:
        await answer.aread()
        canaries.answers.append(f"{answer.headers} {answer.text}")

    made.event_hooks["response"].append(note)
    return made


async def everything_stored(db: Database) -> str:
    async with db.acquire() as conn:
        tables = await conn.fetch(
            "SELECT relname FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = current_schema()::regnamespace"
        )
        rows = [
            f"{name}: {row[0]}"
            for name in (table["relname"] for table in tables)
            for row in await conn.fetch(f'SELECT to_jsonb(t)::text FROM "{name}" AS t')
        ]
    return "\n".join(rows)


async def leak_in_jobs(client: httpx2.AsyncClient, bench: Bench) -> None:
    made = []
    for where in ("stage", "batch", "permanent", "transient", "rows", "bug", "summary"):
        order = {"pipeline": "leaky", "config": {"where": where}}
        made.append((await client.post("/api/jobs", json=order)).json()["jobId"])
    for _ in range(8):
        await bench.work()
        async with bench.runtime.db.acquire() as conn:
            await conn.execute("UPDATE job_items SET due_at = now() WHERE due_at IS NOT NULL")
            await conn.execute("UPDATE job_stages SET ready_at = now() WHERE ready_at < 'infinity'")
            await conn.execute("UPDATE jobs SET ready_at = now() WHERE ready_at < 'infinity'")
    for job_id in made:
        for part in ("", "/items", "/events"):
            await client.get(f"/api/jobs/{job_id}{part}")
    await client.get("/api/events")
    for letter in (await client.get("/api/dead-letters")).json()["items"]:
        await client.get(f"/api/dead-letters/{letter['id']}")


async def leak_in_requests(
    client: httpx2.AsyncClient, canaries: Canaries, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = canaries.secrets["api_key"]
    await client.get(f"/api/jobs/{key}")
    await client.get("/api/jobs", params={"apiKey": key, "state": key})
    await client.post("/api/jobs", json={"pipeline": key, key: key})
    is_json = {"content-type": "application/json"}
    await client.post("/api/jobs", content=f'{{"{key}": ', headers=is_json)
    await client.get("/api/jobs", headers={"X-Request-Id": key})
    # Who calls a request by their own key is told its name, and nobody else is.
    canaries.answers.pop()
    for body in (
        {"email": "member@acme", "password": PASSWORD},
        {"email": PASSWORD, "password": PASSWORD * 100},
        {"email": 3, "password": [PASSWORD]},
    ):
        await client.post("/api/session", json=body)
    for error in (
        RuntimeError(canaries.text()),
        asyncpg.PostgresConnectionError(canaries.text()),
        OSError(canaries.text()),
        Unavailable("NETWORK_ERROR", canaries.text(), told=canaries.text()),
    ):

        async def broken(*_: Any, error: Exception = error, **__: Any) -> Any:
            raise error

        with monkeypatch.context() as patched:
            patched.setattr(jobs, "list_jobs", broken)
            answer = await client.get("/api/jobs")
            assert answer.status_code >= 500


async def leak_in_webhooks(
    client: httpx2.AsyncClient, bench: Bench, canaries: Canaries, receiver: Receiver
) -> None:
    answer = await client.post("/api/webhooks", json={"url": receiver.url, "events": ["*"]})
    canaries.answers.pop()
    canaries.secrets["webhook_secret"] = answer.json()["secret"].removeprefix("whsec_")
    endpoint = answer.json()["id"]
    # A receiver that tells all it knows, then one that is not there, then no key to sign with.
    receiver.status = "500 Internal Server Error"
    receiver.body = f"whsec_{canaries.secrets['webhook_secret']} {canaries.text()}".encode()
    await client.post(f"/api/webhooks/{endpoint}/test")
    await tell(bench.runtime)
    await bench.work()
    ports, fetchers = bench.runtime.ports, bench.runtime.fetchers
    keyless = StoredReceivers(bench.runtime.db, Sealer(lambda: PASSWORD))
    object.__setattr__(bench.runtime, "ports", {**ports, Receivers: keyless})
    await all_due(bench.runtime)
    await bench.work()
    object.__setattr__(bench.runtime, "ports", ports)
    leaky = {purpose: LeakyFetch(canaries) for purpose in FetchPurpose}
    object.__setattr__(bench.runtime, "fetchers", leaky)
    await all_due(bench.runtime)
    await bench.work()
    object.__setattr__(bench.runtime, "fetchers", fetchers)
    for one in (await client.get(f"/api/webhooks/{endpoint}/deliveries")).json()["items"]:
        shown = (await client.get(f"/api/webhooks/deliveries/{one['id']}")).json()
        assert shown["tries"] == 2


class LeakyFetch:
    def __init__(self, canaries: Canaries) -> None:
        self._canaries = canaries

    async def fetch(self, request: Any) -> Any:
        raise RuntimeError(f"{self._canaries.text()} {dict(request.headers)}")

    async def check(self, url: str) -> None:
        raise AssertionError(url)


class LeakyService:
    name, every_ms = "leaky", 10

    def __init__(self, canaries: Canaries) -> None:
        self._canaries = canaries

    async def run_once(self) -> object:
        raise KeyError(self._canaries.text())


async def test_no_secret_comes_out_anywhere(
    client: httpx2.AsyncClient,
    bench: Bench,
    db: Database,
    canaries: Canaries,
    receiver: Receiver,
    logged: io.StringIO,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await leak_in_webhooks(client, bench, canaries, receiver)
    await leak_in_jobs(client, bench)
    await leak_in_requests(client, canaries, monkeypatch)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await run_service(bench.runtime, LeakyService(canaries))
    get_logger().error("everything", everything=canaries)
    receiver.status, receiver.body = "204 No Content", b""
    await tell(bench.runtime)
    await all_due(bench.runtime)
    await bench.work()

    lines = logged.getvalue()
    # The errors were there to be told of, or this would show nothing.
    for said in ("service failed", "request failed", "item failed", "stage failed", "everything"):
        assert said in lines, said
    assert len(receiver.got) > 5
    posted = "\n".join(str(got.headers) + got.body.decode() for got in receiver.got)
    places = {
        "logs": lines,
        "database": await everything_stored(db),
        "answers": "\n".join(canaries.answers),
        "webhooks": posted,
    }
    found = {place: canaries.found_in(text) for place, text in places.items()}
    assert found == {"logs": [], "database": [], "answers": [], "webhooks": []}
