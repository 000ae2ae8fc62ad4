"""How many fields of job postings are read right: real pages with truth, the examples of
schema.org, and hand-made pages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.entry import Line, at_least, not_measured, reported
from penstock.catalog.pages import extract_page

_ROOT = Path(__file__).resolve().parents[2]
_SHARED = _ROOT.parent / "shared" / "data" / "job-pages"
_MADE = _ROOT / "tests" / "catalog" / "pages" / "jobs"
_UNSEEN = _ROOT / "tests" / "catalog" / "unseen"
_SCHEMA_ORG = Path(__file__).with_name("schemaorg_jobs.json")
_GOAL = 0.85
_FIELDS = (
    "title", "company", "locations", "remote", "employmentType", "salary", "datePosted",
    "validThrough", "requirements", "responsibilities",
)  # fmt: skip
_SHARED_NAMES = {
    "employment_type": "employmentType", "date_posted": "datePosted",
    "valid_through": "validThrough",
}  # fmt: skip
# Headings of the parts of an example of schema.org.
_PARTS = ("PRE-MARKUP", "MICRODATA", "RDFA", "JSON")


@dataclass(frozen=True, slots=True)
class JobPage:
    """``fields`` is the truth; null means that the page says nothing about the field."""

    name: str
    html: str
    url: str
    fields: Mapping[str, Any]

    def for_peers(self) -> dict[str, str]:
        return {"name": self.name, "html": self.html, "url": self.url}


def real_pages() -> list[JobPage]:
    """Pages of two boards and the examples of schema.org; empty where the shared data is not
    beside this clone."""
    truth = _SHARED / "ground-truth.json"
    if not truth.is_file():
        return []
    found = []
    for name, one in json.loads(truth.read_text("utf-8")).items():
        fields = {_SHARED_NAMES.get(field, field): value for field, value in one.items()}
        fields["employmentType"] = [fields["employmentType"]]
        html = (_SHARED / "html" / name).read_text("utf-8")
        found.append(JobPage(name, html, "https://jobs.example/1", fields))
    return [*found, *_examples()]


def _examples() -> Iterator[JobPage]:
    for one in json.loads(_SCHEMA_ORG.read_text("utf-8")):
        text = (_SHARED / "schemaorg" / one["file"]).read_text("utf-8")
        for part in one["parts"]:
            html = _part(text, part)
            yield JobPage(f"{one['file']} {part}", html, "https://jobs.example/2", one["fields"])


def _part(text: str, part: str) -> str:
    found = text.partition(f"\n{part}:")[2]
    for other in _PARTS:
        found = found.partition(f"\n{other}:")[0]
    return f"<html lang=en><body>{found}</body></html>"


def made_pages() -> list[JobPage]:
    found = []
    for path in sorted(_MADE.glob("*.html")):
        comment, _, html = path.read_text("utf-8").partition(" -->")
        truth = json.loads(comment.removeprefix("<!-- "))
        if truth["kind"] == "job":
            found.append(JobPage(path.stem, html, truth["url"], truth["fields"]))
    for path in sorted(_UNSEEN.glob("*job_pages.txt")):
        for block in path.read_text("utf-8").split("=== ")[1:]:
            name, written, html = block.split("\n", 2)
            truth = json.loads(written)
            if truth["kind"] == "job":
                name = f"{path.stem} {name}"
                found.append(JobPage(name, html, truth["url"], truth["fields"]))
    return found


def accuracy(
    pages: Sequence[JobPage],
    read: Mapping[str, Mapping[str, Any]],
    fields: Sequence[str] = _FIELDS,
) -> float | None:
    """The share of fields in the truth that are read right; None where the truth has none."""
    judged = [
        _same(read[page.name].get(field), page.fields[field])
        for page in pages
        for field in fields
        if field in page.fields
    ]
    return sum(judged) / len(judged) if judged else None


def precision(pages: Sequence[JobPage], read: Mapping[str, Mapping[str, Any]]) -> float:
    """The share of values that are right, among the values read of fields in the truth."""
    judged = [
        _same(got, page.fields[field])
        for page in pages
        for field in _FIELDS
        if field in page.fields and (got := read[page.name].get(field)) is not None
    ]
    return sum(judged) / len(judged) if judged else 0.0


def _same(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, list) and not isinstance(got, list):
        got = [got]
    return bool(_folded(got) == _folded(wanted))


def _folded(value: Any) -> Any:
    match value:
        case str():
            return " ".join(value.split()).casefold()
        case list():
            return [_folded(one) for one in value]
        case _:
            return value


def lines(read_by_peers: Callable[[Sequence[JobPage]], Mapping[str, Any]] | None) -> list[Line]:
    found: list[Line] = []
    for kind, pages in {"real": real_pages(), "made": made_pages()}.items():
        if not pages:
            reason = "the shared pages are not beside this clone"
            found.append(not_measured(f"{kind} job pages", reason))
            continue
        peers = read_by_peers(pages) if read_by_peers else {}
        found += _lines_of(kind, pages, {name: one["fields"] for name, one in peers.items()})
    return found


def _lines_of(
    kind: str, pages: Sequence[JobPage], peers: Mapping[str, Mapping[str, Any]]
) -> list[Line]:
    ours = {page.name: extract_page(page.html.encode(), page.url).fields for page in pages}
    found: list[Line] = []
    for name, fields in {"all fields": _FIELDS, **{one: (one,) for one in _FIELDS}}.items():
        score = accuracy(pages, ours, fields)
        if score is None:
            continue
        title = f"{name}, {len(pages)} {kind} job pages"
        found.append(at_least(title, "right", [score], _GOAL))
        for peer, read in peers.items():
            if score := accuracy(pages, read, fields):
                found.append(reported(f"{title}, by {peer}", "right", [score]))
    title = f"values read of {len(pages)} {kind} job pages"
    return [*found, reported(title, "right", [precision(pages, ours)])]
