"""Fixtures over the real database: a schema, orgs, the engine's runtime, small pipelines."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, submit
from penstock.engine.worker.loop import Worker
from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.accounts.accounts import Principal
from penstock.store.database import Database
from penstock.store.jobs.claims import Served
from penstock.supervisor.postgres import EmbeddedPostgres
from penstock.wiring import open_runtime
from tests import schemas

SHARED_DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


@pytest.fixture
def owner_dsn() -> str:
    return os.environ["PENSTOCK_TEST_OWNER_DSN"]


@pytest.fixture
def api_dsn() -> str:
    return os.environ["PENSTOCK_TEST_API_DSN"]


@pytest.fixture(scope="session")
def new_cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a PostgreSQL that was made and stopped: `copy_folder` is faster than
    making another."""
    folder = tmp_path_factory.mktemp("new_cluster") / "data"

    async def make() -> None:
        async with EmbeddedPostgres(folder):
            pass

    asyncio.run(make())
    return folder


def copy_folder(source: Path, target: Path) -> Path:
    """With owners and modes, which copies by Python's library lose."""
    subprocess.run(["cp", "-a", source, target], check=True)
    return target


@pytest.fixture
def has_history() -> bool:
    return False


@pytest.fixture
def schema(owner_dsn: str, has_history: bool) -> schemas.Schema:
    return schemas.borrow(owner_dsn, has_history=has_history)


@pytest.fixture
def settings(tmp_path: Path, schema: schemas.Schema) -> Settings:
    """Quick to react and private to the test; a schema of its own in the shared server."""
    return Settings(
        data_dir=tmp_path / "data",
        database_schema=schema.name,
        poll_ms=50,
        sweep_ms=50,
        lock_floor_ms=1500,
        lock_cap_ms=3000,
        shutdown_ms=2000,
        # Tests ask as fast as they can; the limit has its own.
        requests_per_second=0,
        test_pipelines=True,
        # A process that has run many tests is large, and a worker in it would claim less.
        worker_memory_mb=64 * 1024,
        # It begins a child process; tests of it say so.
        submit_look_seconds=0,
    )


@pytest.fixture
async def db(settings: Settings, schema: schemas.Schema, owner_dsn: str) -> AsyncIterator[Database]:
    """The owner's pool on a migrated schema without rows."""
    database = await Database(owner_dsn, settings.database_schema, name="test", size=10).open()
    async with database.acquire() as conn:
        await schemas.ensure_created(conn, schema)
    try:
        yield database
    finally:
        async with database.acquire() as conn:
            await schemas.give_back(conn, schema)
        await database.close()


@pytest.fixture
async def runtime(settings: Settings, owner_dsn: str, db: Database) -> AsyncIterator[Runtime]:
    async with open_runtime(settings, owner_dsn, name="test") as made:
        yield made


MakePrincipal = Callable[..., Awaitable[Principal]]


@pytest.fixture
def principal(db: Database) -> MakePrincipal:
    """Make (or get) an org and a user with a key: ``await principal("acme", role="member")``."""

    async def make(
        org: str = "acme", role: str = "member", plan: str = "standard", email: str = ""
    ) -> Principal:
        async with db.acquire() as conn:
            row = await accounts.ensure_org(conn, org, plan)
            user = await accounts.ensure_user(conn, row.id, email or f"{role}@{org}", role)
            key = await accounts.create_key(conn, row.id, user.id)
            found = await accounts.principal_of(conn, key)
        assert found is not None
        return found

    return make


@dataclass
class Bench:
    """Submit, work and look, in the words of a test."""

    runtime: Runtime
    who: Principal

    async def submit(
        self, pipeline: str = "noop", config: Mapping[str, Any] | None = None, **order: Any
    ) -> UUID:
        who = order.pop("who", self.who)
        async with self.runtime.db.transaction() as conn:
            receipt = await submit(
                self.runtime, conn, who, Order(pipeline, dict(config or {}), **order)
            )
        return receipt.job_id

    async def job(self, job_id: UUID) -> Any:
        async with self.runtime.db.acquire() as conn:
            return await conn.fetchrow("SELECT * FROM jobs WHERE id = $1", job_id)

    async def items(self, job_id: UUID, where: str = "true") -> list[Any]:
        async with self.runtime.db.acquire() as conn:
            return await conn.fetch(
                f"SELECT * FROM job_items WHERE job_id = rows_of($1) AND {where} ORDER BY row_no",
                job_id,
            )

    async def work(self, *job_ids: UUID, turns: int = 10_000) -> None:
        """One worker, claim after claim, until the jobs have ended or nothing is due."""
        async with Worker(self.runtime, sweeps=False) as worker:
            for _ in range(turns):
                if not await worker.run_once():
                    return

    def worker(self, served: Served | None = None) -> Worker:
        return Worker(self.runtime, served)


@pytest.fixture
async def bench(runtime: Runtime, principal: MakePrincipal) -> Bench:
    return Bench(runtime, await principal())
