"""How many fields of job postings are read right: real pages with truth, and hand-made ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.entry import Line, at_least, reported
from penstock.catalog.pages import extract_page

_ROOT = Path(__file__).resolve().parent.parent
_SHARED = _ROOT.parent / "shared" / "data" / "job-pages"
_MADE = _ROOT / "tests" / "catalog" / "pages" / "jobs"
_GOAL = 0.85
_FIELDS = (
    "title", "company", "locations", "remote", "employmentType", "salary", "datePosted",
    "validThrough",
)  # fmt: skip
_SHARED_NAMES = {
    "employment_type": "employmentType", "date_posted": "datePosted",
    "valid_through": "validThrough",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class JobPage:
    name: str
    path: Path
    url: str
    fields: Mapping[str, Any]


def job_pages() -> list[JobPage]:
    return [*_shared_pages(), *_made_pages()]


def _shared_pages() -> list[JobPage]:
    """Empty where the shared data is not beside this clone."""
    truth = _SHARED / "ground-truth.json"
    if not truth.is_file():
        return []
    found = []
    for name, one in json.loads(truth.read_text("utf-8")).items():
        fields = {_SHARED_NAMES.get(field, field): value for field, value in one.items()}
        fields["employmentType"] = [fields["employmentType"]]
        found.append(JobPage(name, _SHARED / "html" / name, "https://jobs.example/1", fields))
    return found


def _made_pages() -> list[JobPage]:
    found = []
    for path in sorted(_MADE.glob("*.html")):
        truth = json.loads(path.read_text("utf-8").partition(" -->")[0].removeprefix("<!-- "))
        found.append(JobPage(path.name, path, truth["url"], truth["fields"]))
    return found


def accuracy(pages: Sequence[JobPage], read: Mapping[str, Mapping[str, Any]]) -> float:
    """The share of fields in the truth that are read right."""
    judged = [
        _same(read[page.name].get(field), page.fields[field])
        for page in pages
        for field in _FIELDS
        if field in page.fields
    ]
    return sum(judged) / len(judged)


def _same(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, list) and not isinstance(got, list):
        got = [got]
    return bool(_folded(got) == _folded(wanted))


def _folded(value: Any) -> Any:
    match value:
        case str():
            return value.strip().casefold()
        case list():
            return [_folded(one) for one in value]
        case _:
            return value


def lines(read_by_peers: Callable[[Sequence[JobPage]], Mapping[str, Any]] | None) -> list[Line]:
    pages = job_pages()
    ours = {page.name: extract_page(page.path.read_bytes(), page.url).fields for page in pages}
    name = f"fields of {len(pages)} job pages"
    found = [at_least(name, "right", [accuracy(pages, ours)], _GOAL)]
    for peer, answer in (read_by_peers(pages) if read_by_peers else {}).items():
        found.append(reported(f"{name}, by {peer}", "right", [accuracy(pages, answer["fields"])]))
    return found
