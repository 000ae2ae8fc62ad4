"""Watched folders over HTTP: create, test, scan, and what became of each file."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from tests.api.conftest import CSV, Caller, refused, shaped
from tests.fixtures import Bench
from tests.places.servers import KEYS, USER, all_places, ftp_server, s3_server

from penstock.api.watchers.schemas import (
    ScanShape,
    WatchedFilePage,
    WatcherPage,
    WatcherShape,
    WatcherTestShape,
)
from penstock.engine.runtime import Runtime
from penstock.settings import Settings
from penstock.store.database import Database


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "in" / "acme").mkdir(parents=True)
    (tmp_path / "secret.csv").write_bytes(CSV)
    return tmp_path / "in" / "acme"


@pytest.fixture
def settings(settings: Settings, root: Path) -> Settings:
    return settings.model_copy(
        update={"watch_roots": (str(root.parent / "{org}"),), "watch_settle_ms": 5000}
    )


def write(path: Path, content: bytes = CSV, age: float = 60) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (time.time() - age, time.time() - age))
    return path


async def settle(db: Database) -> None:
    """Let the interval pass in which a file must not change."""
    async with db.acquire() as conn:
        await conn.execute(
            "UPDATE watched_files SET first_seen_at = first_seen_at - interval '1 hour'"
        )


def order(root: Path, **more: Any) -> dict[str, Any]:
    return {
        "name": "Incoming", "kind": "folder", "address": str(root), "pattern": "*.csv",
        "job": {"pipeline": "extraction", "config": {"intent": "create", "source": "acme"}},
    } | more  # fmt: skip


async def made(client: httpx2.AsyncClient, root: Path, **more: Any) -> WatcherShape:
    answer = await client.post("/api/watchers", json=order(root, **more))
    return shaped(WatcherShape, answer, 201)


async def scanned(client: httpx2.AsyncClient, watcher: WatcherShape | None = None) -> ScanShape:
    body = {} if watcher is None else {"watcherId": str(watcher.id)}
    return shaped(ScanShape, await client.post("/api/ingestion/scan", json=body))


async def test_each_complete_file_becomes_one_job(
    client: httpx2.AsyncClient, root: Path, bench: Bench, db: Database
) -> None:
    watcher = await made(client, root, then="move")
    assert (watcher.every_seconds, watcher.may_change, watcher.has_credentials) == (60, True, False)
    write(root / "goods.csv")
    write(root / "notes.txt")
    (root / "link.csv").symlink_to(root.parent.parent / "secret.csv")
    test = shaped(WatcherTestShape, await client.post(f"/api/watchers/{watcher.id}/test"))
    assert (test.ok, test.listed, test.matching, test.first[0].name) == (True, 2, 1, "goods.csv")

    first = await scanned(client, watcher)
    assert (first.found, first.submitted, first.skipped) == (1, 0, 1)
    assert [(one.name, one.code) for one in first.errors] == [("link.csv", "BAD_FILENAME")]
    await settle(db)
    second = await scanned(client)
    assert (second.found, second.submitted, second.skipped) == (1, 1, 0)
    assert sorted(path.name for path in root.iterdir()) == ["done", "link.csv", "notes.txt"]
    assert (root / "done" / "goods.csv").read_bytes() == CSV
    third = await scanned(client)
    assert (third.found, third.submitted) == (0, 0)

    page = shaped(WatchedFilePage, await client.get(f"/api/watchers/{watcher.id}/files"))
    [file] = page.items
    assert (file.name, file.state, file.finished, page.counts) == (
        *("goods.csv", "submitted", True),
        {"submitted": 1},
    )
    await bench.work()
    job = (await client.get(f"/api/jobs/{file.job_id}")).json()
    assert (job["state"], job["file"]["name"], job["counters"]["total"]) == ("done", "goods.csv", 2)
    assert (await client.get("/api/products")).json()["items"][0]["source"] == "acme"


async def test_a_taken_file_is_renamed_and_not_taken_again(
    client: httpx2.AsyncClient, root: Path, db: Database
) -> None:
    watcher = await made(client, root, then="rename", pattern="*")
    for content in (CSV, CSV + b"3,Saw,1\n"):
        write(root / "goods.csv", content)
        await scanned(client, watcher)
        await settle(db)
        found = await scanned(client, watcher)
        assert (found.found, found.submitted) == (1, 1)
    names = ["goods.csv (2).taken", "goods.csv.taken"]
    assert sorted(path.name for path in root.iterdir()) == names
    await settle(db)
    again = await scanned(client, watcher)
    assert (again.found, again.submitted) == (0, 0)


async def test_a_file_that_grows_is_not_taken(
    client: httpx2.AsyncClient, root: Path, db: Database
) -> None:
    watcher = await made(client, root)
    path = write(root / "goods.csv", b"sku,title\n", age=0)
    for number in range(3):
        assert (await scanned(client, watcher)).submitted == 0
        await settle(db)
        with path.open("ab") as file:
            file.write(b"%d,Hammer\n" % number)
    assert (await scanned(client, watcher)).submitted == 0
    await settle(db)
    assert (await scanned(client, watcher)).submitted == 1
    assert (await scanned(client, watcher)).skipped == 1
    # A new version is another job; versions that were never taken leave no rows.
    write(path, b"sku,title\n9,Nail\n")
    assert (await scanned(client, watcher)).submitted == 0
    await settle(db)
    assert (await scanned(client, watcher)).submitted == 1
    page = shaped(WatchedFilePage, await client.get(f"/api/watchers/{watcher.id}/files"))
    assert page.counts == {"submitted": 2}


async def test_markers_and_folders(client: httpx2.AsyncClient, root: Path) -> None:
    watcher = await made(
        client, root, pattern="**/*.csv, prices/*.TXT", completeBy="marker", then="delete"
    )
    for name in ("a.csv", "deep/er/b.csv", "prices/c.txt", "d.csv", ".hidden.csv", "e.csv.part"):
        write(root / name)
    for name in ("a.csv", "deep/er/b.csv", "prices/c.txt"):
        write(root / f"{name}.done", b"", age=1)
    write(root / "d.csv.done", b"", age=3600)
    result = await scanned(client, watcher)
    assert (result.found, result.submitted, result.skipped, result.errors) == (4, 3, 1, [])
    left = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
    assert left == [".hidden.csv", "d.csv", "d.csv.done", "e.csv.part"]


async def test_failures_name_the_file_and_are_tried_again(
    client: httpx2.AsyncClient, root: Path, db: Database, settings: Settings
) -> None:
    watcher = await made(client, root, completeBy="marker")
    for name, content in (("large.csv", b"x" * (settings.max_file_bytes + 1)), ("ok.csv", CSV)):
        write(root / name, content)
        write(root / f"{name}.done", b"", age=0)
    result = await scanned(client, watcher)
    assert (result.submitted, [(one.name, one.code) for one in result.errors]) == (
        1,
        [("large.csv", "FILE_TOO_LARGE")],
    )
    answer = await client.get(f"/api/watchers/{watcher.id}/files?state=failed")
    [failed] = shaped(WatchedFilePage, answer).items
    assert failed.error is not None
    assert (failed.name, failed.error.code, failed.next_try_at) == (
        *("large.csv", "FILE_TOO_LARGE"),
        None,
    )
    again = await scanned(client, watcher)
    assert (again.found, again.submitted, again.skipped, again.errors) == (2, 0, 2, [])
    shown = shaped(WatcherShape, await client.get(f"/api/watchers/{watcher.id}"))
    assert shown.last_scan is not None
    assert shown.last_scan.found == 2
    retry = f"/api/watchers/{watcher.id}/files/{failed.id}/retry"
    shaped(WatcherShape, await client.post(retry))
    assert len((await scanned(client, watcher)).errors) == 1
    refused(await client.post(retry.replace(str(failed.id), str(watcher.id))), 409, "INVALID_STATE")


async def test_only_folders_under_the_roots(client: httpx2.AsyncClient, root: Path) -> None:
    (root / "away").symlink_to(root.parent.parent)
    for address in ("/etc", "../other", str(root.parent), str(root / ".." / "other")):
        answer = await client.post("/api/watchers", json=order(root, address=address))
        refused(answer, 422, "INVALID_PARAMETERS")
    for address in (str(root / "away"), "nowhere"):
        tested = await client.post("/api/watchers", json=order(root, address=address))
        refused(tested, 502, "PLACE_FAILED")
    assert shaped(WatcherPage, await client.get("/api/watchers")).items == []
    linked = await made(client, root, address=str(root / "away"), test=False)
    missing = await made(client, root, address="nowhere", test=False)
    for watcher, code in ((linked, "PLACE_REFUSED"), (missing, "PLACE_NOT_FOUND")):
        test = shaped(WatcherTestShape, await client.post(f"/api/watchers/{watcher.id}/test"))
        assert test.error is not None
        assert (test.ok, test.error.code) == (False, code)
        result = await scanned(client, watcher)
        assert [(one.name, one.code) for one in result.errors] == [("", code)]
        shown = shaped(WatcherShape, await client.get(f"/api/watchers/{watcher.id}"))
        assert shown.error is not None
        assert shown.error.code == code


async def test_credentials_are_tested_before_they_are_stored(
    client: httpx2.AsyncClient, runtime: Runtime, app: FastAPI, root: Path
) -> None:
    places = replace(runtime, places=all_places())
    app.state.api = replace(app.state.api, runtime=places)
    wrong = USER | {"password": "wrong"}
    with ftp_server(root) as port:
        order = {"name": "FTP", "kind": "ftp", "address": f"ftp://127.0.0.1:{port}/"}
        answer = await client.post("/api/watchers", json=order | {"credentials": wrong})
        refused(answer, 502, "PLACE_FAILED")
        error = answer.json()["error"]
        assert error["details"]["cause"] == "PLACE_SIGN_IN_FAILED"
        assert "Check user name and password" in error["message"]
        assert shaped(WatcherPage, await client.get("/api/watchers")).items == []
        key = {"Idempotency-Key": "once"}
        good = order | {"credentials": USER}
        first = await client.post("/api/watchers", json=good, headers=key)
        watcher = shaped(WatcherShape, first, 201)
        path = f"/api/watchers/{watcher.id}"
        refused(await client.post(f"{path}/rotate", json={"credentials": wrong}), 502,
                "PLACE_FAILED")  # fmt: skip
        # The old ones are kept.
        assert shaped(WatcherTestShape, await client.post(f"{path}/test")).ok
        shaped(WatcherShape, await client.post(f"{path}/rotate", json={"credentials": USER}))
    # The server is gone: a repeated request is answered all the same.
    again = await client.post("/api/watchers", json=good, headers=key)
    assert (again.status_code, again.content) == (201, first.content)
    refused(await client.post(f"{path}/rotate", json={"credentials": USER}), 502, "PLACE_FAILED")
    untested = {"credentials": wrong, "test": False}
    shaped(WatcherShape, await client.post(f"{path}/rotate", json=untested))
    shaped(WatcherShape, await client.post("/api/watchers", json=order | untested), 201)


async def test_orders_that_no_file_could_satisfy(client: httpx2.AsyncClient, root: Path) -> None:
    for change, code in (
        ({"job": {"pipeline": "none"}}, "INVALID_PARAMETERS"),
        ({"job": {"pipeline": "shop_import"}}, "INVALID_PARAMETERS"),
        ({"job": {"config": {"intent": "burn"}}}, "INVALID_CONFIG"),
        ({"job": {"profile": "unknown"}}, "INVALID_CONFIG"),
        ({"pattern": " , "}, "INVALID_PARAMETERS"),
        ({"kind": "gopher"}, "INVALID_PARAMETERS"),
        ({"then": "burn"}, "INVALID_PARAMETERS"),
    ):
        answer = await client.post("/api/watchers", json=order(root, **change))
        refused(answer, 422, code)


async def test_change_pause_and_delete(
    client: httpx2.AsyncClient, caller: Caller, root: Path
) -> None:
    watcher = await made(client, root)
    write(root / "goods.csv")
    path = f"/api/watchers/{watcher.id}"
    body = {"enabled": False, "everySeconds": None, "then": "delete", "name": "Paused"}
    changed = shaped(WatcherShape, await client.patch(path, json=body))
    assert (changed.enabled, changed.every_seconds, changed.next_scan_at) == (False, None, None)
    assert (changed.then, changed.name, changed.pattern) == ("delete", "Paused", "*.csv")
    assert (await scanned(client)).found == 0
    colleague = await caller(email="second@acme")
    assert shaped(WatcherPage, await colleague.get("/api/watchers")).items[0].may_change is False
    refused(await colleague.patch(path, json=body), 403, "INSUFFICIENT_PERMISSIONS")
    stranger = await caller("other")
    assert shaped(WatcherPage, await stranger.get("/api/watchers")).items == []
    refused(
        await stranger.post("/api/ingestion/scan", json={"watcherId": str(watcher.id)}),
        *(404, "NOT_FOUND"),
    )
    assert (await client.delete(path)).json() == {"id": str(watcher.id)}
    refused(await client.get(path), 404, "NOT_FOUND")


async def test_a_job_of_an_object_in_a_bucket_of_the_org(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench, runtime: Runtime, app: FastAPI
) -> None:
    with s3_server() as endpoint:
        httpx2.put(f"{endpoint}/goods").raise_for_status()
        httpx2.put(f"{endpoint}/goods/in/a b.csv", content=CSV).raise_for_status()
        httpx2.put(f"{endpoint}/goods/secret.csv", content=CSV).raise_for_status()
        address = f"s3://goods/in?endpoint={endpoint}"
        order = {"name": "Bucket", "kind": "s3", "address": address, "credentials": KEYS}
        refused(await client.post("/api/watchers", json=order), 422, "URL_NOT_ALLOWED")
        places = replace(runtime, places=all_places())
        app.state.api = replace(app.state.api, runtime=places)
        shaped(WatcherShape, await client.post("/api/watchers", json=order), 201)
        made = await client.post("/api/jobs", json={"url": "s3://goods/in/a%20b.csv"})
        assert made.status_code == 202, made.text
        await bench.work()
        job = (await client.get(f"/api/jobs/{made.json()['jobId']}")).json()
        assert (job["state"], job["file"]["name"]) == ("done", "a b.csv")
        for url, status, code in (
            ("s3://goods/secret.csv", 422, "URL_NOT_ALLOWED"),
            ("s3://goods/in/../secret.csv", 422, "URL_NOT_ALLOWED"),
            ("s3://other/in/a.csv", 422, "URL_NOT_ALLOWED"),
            ("s3://goods/in/none.csv", 404, "FILE_NOT_FOUND"),
        ):
            refused(await client.post("/api/jobs", json={"url": url}), status, code)
        stranger = await caller("other")
        asked = await stranger.post("/api/jobs", json={"url": "s3://goods/in/a%20b.csv"})
        refused(asked, 422, "URL_NOT_ALLOWED")
