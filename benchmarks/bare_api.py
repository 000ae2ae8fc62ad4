"""The limit for the API: FastAPI routes that make the same queries and answer them. Run as a
process.

No key, no org, no row-level security, no shaping."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import asyncpg
import orjson
import uvicorn
from fastapi import FastAPI, Response

from penstock.store.jobs.items import PAGE_BYTES
from penstock.store.queries import load

_CONNECTIONS = 20


def bare_app(dsn: str, schema: str) -> FastAPI:
    query, page = load("jobs").get_job, load("items").items_by_row

    @asynccontextmanager
    async def opened(app: FastAPI) -> AsyncIterator[None]:
        settings = {"search_path": schema, "jit": "off"}
        async with asyncpg.create_pool(
            dsn, min_size=1, max_size=_CONNECTIONS, server_settings=settings
        ) as app.state.pool:
            yield

    app = FastAPI(lifespan=opened)

    @app.get("/jobs/{job_id}")
    async def show(job_id: UUID) -> Response:
        row: Any = await app.state.pool.fetchrow(query, job_id)
        return Response(orjson.dumps(dict(row), default=str), media_type="application/json")

    @app.get("/jobs/{job_id}/items")
    async def items(job_id: UUID, pageSize: int) -> Response:  # noqa: N803 - as the API spells it
        rows: Any = await app.state.pool.fetch(page, job_id, 0, pageSize, PAGE_BYTES)
        shown = {"items": [dict(row) for row in rows]}
        return Response(orjson.dumps(shown, default=str), media_type="application/json")

    return app


def main() -> None:
    spec = json.loads(sys.argv[1])
    uvicorn.run(
        bare_app(spec["dsn"], spec["schema"]), host="127.0.0.1", port=spec["port"],
        http="httptools", loop="uvloop", log_level="warning", access_log=False,
    )  # fmt: skip


if __name__ == "__main__":
    main()
