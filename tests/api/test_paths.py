"""Files of the server's own: only under the folders that are open, and through no link."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from tests.api.conftest import CSV, MAX_FILE_BYTES, Caller, client_of, refused
from tests.api.test_files import files_on_disk, rows_of
from tests.fixtures import Bench

from penstock.api.app import create_app
from penstock.engine.runtime import Runtime
from penstock.settings import Settings
from penstock.store.database import Database


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two orgs' folders, and secrets beside them."""
    for folder in ("in/acme/deep", "in/other"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "in/acme/deep/goods.csv").write_bytes(CSV)
    (tmp_path / "in/acme/large.csv").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    (tmp_path / "in/other/theirs.csv").write_bytes(CSV)
    (tmp_path / "secret.csv").write_bytes(CSV)
    (tmp_path / "in/acme/link.csv").symlink_to(tmp_path / "secret.csv")
    (tmp_path / "in/acme/linked").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "in/acme/pipe")
    return tmp_path / "in" / "acme"


@pytest.fixture
async def opened(
    runtime: Runtime, api_db: Database, root: Path, client: httpx2.AsyncClient
) -> httpx2.AsyncClient:
    roots = (str(root.parent / "{org}"),)
    settings = runtime.settings.model_copy(update={"import_roots": roots})
    app = create_app(replace(runtime, settings=settings), api_db)
    return client_of(app, client.headers["authorization"].removeprefix("Bearer "))


async def test_a_job_of_a_path(opened: httpx2.AsyncClient, root: Path, bench: Bench) -> None:
    for path in (str(root / "deep" / "goods.csv"), "deep/goods.csv"):
        answer = await opened.post("/api/jobs", json={"path": path})
        assert answer.status_code == 202, answer.text
    await bench.work()
    for job in (await opened.get("/api/jobs")).json()["items"]:
        assert (job["state"], job["file"]["name"], job["counters"]["total"]) == (
            *("done", "goods.csv"),
            2,
        )
    seen = await opened.post("/api/jobs/preview", json={"path": "deep/goods.csv"})
    assert seen.json()["rowsSampled"] == 2


async def test_paths_that_lead_elsewhere(
    opened: httpx2.AsyncClient, root: Path, settings: Settings, db: Database
) -> None:
    for path in (
        *("/etc/passwd", "../secret.csv", "deep/../../other/theirs.csv", "link.csv"),
        *("linked/secret.csv", "pipe", "deep", str(root.parent / "other/theirs.csv"), "/", "."),
    ):
        answer = await opened.post("/api/jobs", json={"path": path})
        refused(answer, 422, "PATH_NOT_ALLOWED")
    refused(await opened.post("/api/jobs", json={"path": "none.csv"}), 404, "FILE_NOT_FOUND")
    refused(await opened.post("/api/jobs", json={"path": "large.csv"}), 413, "FILE_TOO_LARGE")
    both = {"path": "deep/goods.csv", "fileId": "0192f0c1-7d5e-7c3a-9b1f-3f2d5a6b7c8d"}
    refused(await opened.post("/api/jobs", json=both), 422, "INVALID_PARAMETERS")
    noop = {"path": "deep/goods.csv", "pipeline": "noop"}
    refused(await opened.post("/api/jobs", json=noop), 422, "INVALID_PARAMETERS")
    assert files_on_disk(settings) == []
    assert await rows_of(db, "files") == 0


async def test_without_folders_no_path_is_taken(client: httpx2.AsyncClient, root: Path) -> None:
    answer = await client.post("/api/jobs", json={"path": str(root / "deep" / "goods.csv")})
    assert "PENSTOCK_IMPORT_ROOTS" in refused(answer, 422, "PATH_NOT_ALLOWED").detail


async def test_viewers_name_no_paths(caller: Caller) -> None:
    viewer = await caller(role="viewer")
    answer = await viewer.post("/api/jobs", json={"path": "x.csv"})
    refused(answer, 403, "INSUFFICIENT_PERMISSIONS")
