"""How well and how fast products are read from web pages, beside what one would use instead."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from benchmarks.entry import (
    Entry,
    Line,
    Scale,
    at_least,
    at_most,
    not_measured,
    reported,
    share_of,
)
from benchmarks.lab import Lab
from benchmarks.peers.install import PYTHON, ensure_environment
from benchmarks.web.job_pages import JobPage
from benchmarks.web.job_pages import lines as job_lines
from penstock.catalog.pages import extract_page

_ROOT = Path(__file__).resolve().parents[2]
_SHARED = _ROOT.parent / "shared" / "data" / "product-pages"
_MADE = _ROOT / "tests" / "catalog" / "pages" / "products"
# Names of the shared pages as their headings show them, read by hand: the truth has none.
_NAMES = _ROOT / "benchmarks" / "web" / "product_names.json"
_FIELDS = ("price", "currency", "sku", "availability", "name", "brand", "gtin")
_GOAL = 0.93
_SIGNS = {"€": "EUR", "£": "GBP", "₹": "INR", "$": "USD ARS CAD AUD MXN"}


@dataclass(frozen=True)
class Truth:
    name: str
    path: Path
    url: str
    # All right values of a field.
    fields: Mapping[str, Sequence[str]]

    def for_peers(self) -> dict[str, str]:
        return {"name": self.name, "path": str(self.path), "url": self.url}


def shared_pages() -> list[Truth]:
    """Real pages; empty where the shared data is not beside this clone."""
    if not (_SHARED / "ground-truth.json").is_file():
        return []
    truth = json.loads((_SHARED / "ground-truth.json").read_text("utf-8"))
    names = json.loads(_NAMES.read_text("utf-8"))
    found = []
    for name, one in truth.items():
        fields = {field: [str(value) for value in one[field]] for field in _FIELDS if field in one}
        fields.setdefault("availability", ["InStock"])
        fields["name"] = [names[name]]
        codes = [_SIGNS.get(sign, sign).split() for sign in fields.get("currency", ())]
        fields["currency"] = [code for several in codes for code in several]
        found.append(Truth(name, _SHARED / "html" / f"{name}.html.gz", one["url"], fields))
    return found


def made_pages() -> list[Truth]:
    found = []
    for path in sorted(_MADE.glob("*.html")):
        truth = json.loads(path.read_text("utf-8").partition(" -->")[0].removeprefix("<!-- "))
        fields = {name: [str(value)] for name, value in truth["fields"].items() if name in _FIELDS}
        if fields:
            found.append(Truth(path.stem, path, truth["url"], fields))
    return found


def read_ours(pages: Sequence[Truth]) -> tuple[float, dict[str, dict[str, Any]]]:
    contents = [(page, _content(page.path)) for page in pages]
    began = time.process_time()
    fields = {page.name: extract_page(html, page.url).fields for page, html in contents}
    return time.process_time() - began, fields


def _content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def read_by_peers(pages: Sequence[Truth | JobPage]) -> dict[str, Any]:
    asked = [one.for_peers() for one in pages]
    done = subprocess.run(
        [str(PYTHON), "-m", "benchmarks.peers.page_extractors"], input=json.dumps(asked),
        capture_output=True, text=True, check=True, cwd=_ROOT,
    )  # fmt: skip
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def f1(field: str, pages: Sequence[Truth], read: Mapping[str, Mapping[str, Any]]) -> float:
    """Pages without the field in the truth do not count: the truth says what a visitor sees, and
    markup may know more."""
    right = wrong = missed = 0
    for page in pages:
        if field not in page.fields:
            continue
        got = read[page.name].get(field)
        if got is not None and any(_same(field, str(got), one) for one in page.fields[field]):
            right += 1
        else:
            missed += 1
            wrong += got is not None
    return 2 * right / (2 * right + wrong + missed) if right else 0.0


def _same(field: str, got: str, wanted: str) -> bool:
    if field == "price":
        try:
            return Decimal(got) == Decimal(wanted)
        except InvalidOperation:
            return False
    if field == "gtin":
        return got.lstrip("0") == wanted.lstrip("0")
    return " ".join(got.split()).casefold() == " ".join(wanted.split()).casefold()


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    sets = {"real": shared_pages(), "made": made_pages()}
    missing = await asyncio.to_thread(ensure_environment)
    lines: list[Line] = []
    for kind, pages in sets.items():
        if not pages:
            lines.append(
                not_measured(f"{kind} pages", "the shared pages are not beside this clone")
            )
            continue
        _, ours = read_ours(pages)
        peers = {} if "extruct" in missing else read_by_peers(pages)
        for field in _FIELDS:
            if any(field in page.fields for page in pages):
                lines += _scores(kind, field, pages, ours, peers)
    lines += job_lines(None if "extruct" in missing else read_by_peers)
    lines += _speed(sets["real"] or sets["made"], scale, "extruct" in missing)
    return lines


def _scores(
    kind: str, field: str, pages: Sequence[Truth], ours: Any, peers: Mapping[str, Any]
) -> list[Line]:
    score = f1(field, pages, ours)
    lines = [at_least(f"{field}, {kind} pages", "F1", [score], _GOAL)]
    for name, peer in peers.items():
        score = f1(field, pages, peer["fields"])
        if score:
            lines.append(reported(f"{field}, {kind} pages, by {name}", "F1", [score]))
    return lines


def _speed(pages: Sequence[Truth], scale: Scale, no_peer: bool) -> list[Line]:
    ours: list[float] = []
    theirs: list[float] = []
    read_ours(pages)
    for _ in range(scale.repetitions):
        ours.append(len(pages) / read_ours(pages)[0])
        if not no_peer:
            theirs.append(len(pages) / read_by_peers(pages)["extruct"]["seconds"])
    memory = _peak_megabytes()
    kept = at_most("largest memory of a process that reads them", "MB", [memory], 200)
    if no_peer:
        return [reported("pages on one core", "pages/s", ours), kept]
    return [share_of("pages on one core", "pages/s", ours, theirs, 2.0, "extruct"), kept]


def _peak_megabytes() -> float:
    """Of a process that reads all pages and nothing else."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.entries.web_pages"], capture_output=True, text=True,
        check=True, cwd=_ROOT,
    )  # fmt: skip
    return float(done.stdout)


ENTRY = Entry(
    "web_pages",
    run,
    "Web pages to products",
    "One process, processor time, pages in memory. Real pages are those of the shared data, with"
    " the truth of their annotators; names, which they did not write down, were read by hand from"
    " the headings. Made pages are the fixtures of the tests, written by hand after real shop"
    " systems. extruct reads with all its syntaxes; its first product is taken. trafilatura has the"
    " title only. Real job pages are pages of two boards and the examples of schema.org, each as"
    " plain page, microdata, RDFa or JSON-LD; made ones are those of the tests, most without"
    " markup. Their figure is the share of fields that are right; a field that was not read counts"
    " as wrong. All sets were in view while the rules were written, so these are not figures for"
    " unseen pages: `tests/catalog/unseen/README.md` has the figures of first readings. A value"
    " where the truth has none is not counted as wrong; counted so, F1 on the real product pages is"
    " 0.82 for GTINs and 0.90 for brands.",
)

if __name__ == "__main__":
    read_ours(shared_pages() or made_pages())
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
