"""`penstock fetch`: real processes, a real local site, no database."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from tests.warm import start_process

SOURCE = Path(__file__).resolve().parents[2] / "src"
PAGE = """<html lang="de"><title>Lampe Alma</title><h1>Lampe Alma</h1>
<p>Art.-Nr.: LA-7</p><p class="price">49,90 €</p><button>In den Warenkorb</button></html>"""


def penstock(*arguments: str | Path, code: int = 0, **more: str) -> tuple[str, str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), **more}
    environment |= {
        "PENSTOCK_DATA_DIR": "/nowhere",
        "PENSTOCK_DATABASE_URL": "postgresql://x.invalid/",
    }
    done = start_process(
        "penstock.cli", "fetch", *map(str, arguments), env=environment, cwd=Path.cwd()
    )
    out, err = done.communicate(timeout=60)
    assert done.returncode == code, f"exit code {done.returncode}\n{out}\n{err}"
    assert "Traceback" not in err
    return out, err


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "lampe.html"
    path.write_text(PAGE, "utf-8")
    return path


def test_saved_page_as_json(saved: Path) -> None:
    out, _ = penstock("--html", saved, "--url", "https://licht.example.de/alma", "--json")
    page = json.loads(out)
    assert page["url"] == "https://licht.example.de/alma"
    assert page["kind"] == "product"
    assert page["fields"] == {
        "name": "Lampe Alma", "price": "49.90", "currency": "EUR", "availability": "InStock",
        "sku": "LA-7",
    }  # fmt: skip
    assert page["lineage"]["price"]["source"] == "page"
    assert page["lineage"].keys() == page["fields"].keys()


def test_saved_page_for_people(saved: Path) -> None:
    out, err = penstock("--html", saved, "--url", "https://licht.example.de/alma")
    assert out.splitlines()[0].split() == ["FIELD", "VALUE", "SOURCE", "CONFIDENCE"]
    assert "49.90" in out
    assert "product: https://licht.example.de/alma" in err


def test_page_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "about.html"
    path.write_text("<h1>About us</h1><p>We sell lamps.</p>", "utf-8")
    out, _ = penstock("--html", path, "--url", "https://licht.example.de/about", "--json")
    assert (json.loads(out)["kind"], json.loads(out)["fields"]) == (None, {})
    out, err = penstock("--html", path, "--url", "https://licht.example.de/about")
    assert (out, err) == ("", "The page is neither a product nor a job posting.\n")


def test_folder_of_pages(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "a.html").write_text(PAGE, "utf-8")
    (folder / "b.html.gz").write_bytes(gzip.compress(PAGE.replace("49,90", "59,90").encode()))
    urls = tmp_path / "urls.csv"
    urls.write_text("file,url\na,https://l.example.de/a\nb,https://l.example.de/b\n", "utf-8")
    place = tmp_path / "out.ndjson"
    _, err = penstock("--html", folder, "--urls", urls, "-o", place)
    assert err == "2 pages read, 0 failed.\n"
    pages = [json.loads(line) for line in place.read_text("utf-8").splitlines()]
    assert [(one["file"], one["fields"]["price"]) for one in pages] == [
        ("a", "49.90"),
        ("b", "59.90"),
    ]
    urls.write_text("file,url\na,https://l.example.de/a\ngone,https://l.example.de/b\n", "utf-8")
    out, err = penstock("--html", folder, "--urls", urls, code=3)
    assert [json.loads(line)["kind"] for line in out.splitlines()] == ["product", None]
    assert "has no file gone." in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give either a URL to fetch, or --html with a saved page."),
        (["ftp://x.example/"], "is not an address"),
        (["--html", "/nowhere/x.html", "--url", "https://a.example/"], "Cannot read"),
        (["--html", str(SOURCE / "penstock/py.typed")], "--url https://"),
        (["--html", str(SOURCE)], "--urls FILE.csv"),
        (["--html", str(SOURCE), "--urls", "/nowhere.csv"], "Cannot read /nowhere.csv"),
    ],
)
def test_wrong_use_is_explained(arguments: list[str], message: str) -> None:
    _, err = penstock(*arguments, code=2)
    assert message in err


def test_names_outside_of_the_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.html").write_text(PAGE, "utf-8")
    folder = tmp_path / "pages"
    folder.mkdir()
    urls = tmp_path / "urls.csv"
    urls.write_text("file,url\n../secret,https://l.example.de/a\n", "utf-8")
    out, err = penstock("--html", folder, "--urls", urls, code=3)
    assert "Lampe" not in out
    assert "is not the name of a file" in err


@pytest.fixture
def site() -> Iterator[str]:
    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = PAGE.encode()
            self.send_response(404 if self.path == "/gone" else 200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_page_of_a_site(site: str) -> None:
    out, _ = penstock(f"{site}/lampe", "--json", PENSTOCK_CRAWL_ALLOW="127.0.0.1")
    assert json.loads(out)["fields"]["price"] == "49.90"
    _, err = penstock(f"{site}/gone", code=4, PENSTOCK_CRAWL_ALLOW="127.0.0.1")
    assert "answers with status 404" in err
    _, err = penstock(f"{site}/lampe", code=2)
    assert "not on the public internet" in err
