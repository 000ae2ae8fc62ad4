"""The UI beside the API: who gets pages, who gets problems, and how long browsers keep what."""

from __future__ import annotations

import gzip
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from penstock.web.bundle import load
from penstock.web.serving import Web

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>Penstock</title>", "utf-8")
    (tmp_path / "assets" / "app-1a2b.js").write_text("let text = 'water';\n" * 200, "utf-8")
    (tmp_path / "BUILD.json").write_text("{}", "utf-8")
    return tmp_path


def client(dist: Path) -> httpx2.AsyncClient:
    app = FastAPI(docs_url=None, redoc_url=None)

    @app.get("/")
    @app.get("/health")
    async def known() -> dict[str, str]:
        return {"status": "ok"}

    served = Web(app, load(dist))
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(served), base_url="http://penstock")


async def test_a_browser_gets_the_page_wherever_the_api_knows_nothing(dist: Path) -> None:
    async with client(dist) as browser:
        for path in ("/", "/jobs", "/jobs/123?tab=errors"):
            answer = await browser.get(path, headers=BROWSER)
            assert (answer.status_code, "Penstock" in answer.text) == (200, True)
            assert answer.headers["cache-control"] == "no-cache"
            assert "script-src 'self'" in answer.headers["content-security-policy"]
        assert (await browser.get("/health", headers=BROWSER)).json() == {"status": "ok"}


async def test_programs_get_what_the_api_says(dist: Path) -> None:
    async with client(dist) as program:
        assert (await program.get("/")).json() == {"status": "ok"}
        assert (await program.get("/nothing")).status_code == 404
        assert (await program.get("/api/nothing", headers=BROWSER)).status_code == 404
        assert (await program.post("/jobs", headers=BROWSER)).status_code == 404


async def test_files_named_by_their_content_are_kept_for_good_and_packed(dist: Path) -> None:
    async with client(dist) as browser:
        packed = await browser.get("/assets/app-1a2b.js", headers={"Accept-Encoding": "gzip"})
        assert "immutable" in packed.headers["cache-control"]
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.headers["content-type"].startswith("text/javascript")
        plain = await browser.get("/assets/app-1a2b.js", headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.content == (dist / "assets" / "app-1a2b.js").read_bytes() == packed.content
        assert len(gzip.compress(plain.content)) < len(plain.content)


async def test_what_has_not_changed_is_not_sent_again(dist: Path) -> None:
    async with client(dist) as browser:
        first = await browser.get("/", headers=BROWSER)
        again = await browser.get("/", headers=BROWSER | {"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_nothing_beside_the_built_files_is_served(dist: Path) -> None:
    async with client(dist) as browser:
        for path in ("/assets/../../secret", "/assets/%2e%2e/BUILD.json", "/BUILD.json"):
            assert (await browser.get(path)).status_code == 404


async def test_an_installation_without_the_build_names_the_fix(tmp_path: Path) -> None:
    async with client(tmp_path) as browser:
        answer = await browser.get("/jobs", headers=BROWSER)
    assert answer.status_code == 503
    assert "make ui" in answer.text
