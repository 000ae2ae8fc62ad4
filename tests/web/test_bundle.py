"""The committed build is of the committed source, small, free of addresses; told without Node."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

from penstock.web.bundle import DIST, load

FRONTEND = Path(__file__).resolve().parents[2] / "frontend"
SOURCES = (
    "index.html", "package.json", "package-lock.json", "public", "src", "tsconfig.json",
    "vite.config.ts",
)  # fmt: skip
FIRST_LOAD_BYTES = 250_000
BUILD = json.loads((DIST / "BUILD.json").read_text("utf-8"))


def source_hash() -> str:
    """As frontend/scripts/finish.mjs computes it."""
    paths = [
        path
        for name in SOURCES
        for path in (
            [FRONTEND / name] if (FRONTEND / name).is_file() else (FRONTEND / name).rglob("*")
        )
        if path.is_file() and not re.search(r"\.test\.tsx?$", path.name)
    ]
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(FRONTEND).as_posix(), path) for path in paths):
        digest.update(f"{name}\0".encode())
        digest.update(path.read_bytes())
        digest.update(b"\0")
    return digest.hexdigest()


def test_the_build_is_of_this_source() -> None:
    assert BUILD["source"] == source_hash(), "frontend/ has changed: run `make ui`, commit dist"


def test_a_first_visit_loads_little() -> None:
    scripts = [name for name in BUILD["first"] if name.endswith(".js")]
    assert scripts
    size = sum(len(gzip.compress((DIST / name).read_bytes(), 9)) for name in scripts)
    assert size <= FIRST_LOAD_BYTES


def test_the_page_runs_no_inline_script_and_loads_nothing_from_elsewhere() -> None:
    page = (DIST / "index.html").read_text("utf-8")
    assert re.search(r"<script(?![^>]*\bsrc=)", page) is None
    assert "://" not in page


def test_the_lock_file_records_no_addresses() -> None:
    text = (FRONTEND / "package-lock.json").read_text("utf-8")
    assert '"resolved"' not in text
    assert "://" not in text


def test_every_file_of_the_first_visit_is_there() -> None:
    assets = load()
    assert set(BUILD["first"]) <= set(assets)
    assert "BUILD.json" not in assets
