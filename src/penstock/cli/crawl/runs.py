"""`penstock crawl`: pages of companies into products and job postings."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing

app = typer.Typer(help="Crawl pages of companies.", no_args_is_help=True)
RunRef = Annotated[UUID, typer.Argument(metavar="RUN", help="The run's id.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
_ENDED = frozenset(("finished", "aborted", "failed"))
_LOOK_S = 0.5
_KICKOFF_MS = 2000


@app.command("start")
def start(
    company: Annotated[str, typer.Argument(help="The company's name; `-` with --file.")],
    url: Annotated[list[str] | None, typer.Argument(help="Pages of the company.")] = None,
    sitemap: Annotated[str | None, typer.Option(help="Take the pages of this sitemap.")] = None,
    begin: Annotated[
        str | None, typer.Option("--start", metavar="URL", help="Follow links from this page.")
    ] = None,
    follow: Annotated[
        list[str] | None, typer.Option(help="Path to follow, such as '/p/*'; may be repeated.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Most pages to follow.")] = 100,
    file: Annotated[
        Path | None, typer.Option(help='JSON with "companies", as the API takes it; - reads stdin.')
    ] = None,
    kind: Annotated[str, typer.Option(help="product, job or auto.")] = "auto",
    rate: Annotated[float, typer.Option(help="Requests a second to each company.")] = 1.0,
    robots: Annotated[bool, typer.Option(help="Keep to robots.txt.")] = True,
    recrawl: Annotated[bool, typer.Option(help="Also what has not changed.")] = False,
    name: Annotated[str, typer.Option(help="What the run is called.")] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the end of the run.")] = False,
    json: printing.Json = False,
) -> None:
    """Start a crawl; prints the id of the run. With --wait exits with 3 if pages failed."""
    companies = _companies(company, url, sitemap, begin, follow, limit, file)
    order: dict[str, Any] = {
        "companies": companies, "kind": kind, "rate": rate, "robots": robots, "recrawl": recrawl,
        "name": name,
    }  # fmt: skip
    found = asyncio.run(_start(order, wait))
    if json:
        printing.as_json(found)
    elif wait:
        _print_run(found)
    else:
        print(found["runId"])
    if wait and (found["status"] != "finished" or found["counts"]["error"]):
        raise typer.Exit(3 if found["status"] == "finished" else 1)


def _companies(
    company: str, urls: list[str] | None, sitemap: str | None, begin: str | None,
    follow: list[str] | None, limit: int, file: Path | None,
) -> list[dict[str, Any]]:  # fmt: skip
    if file is not None:
        import json

        text = sys.stdin.read() if str(file) == "-" else file.read_text("utf-8")
        try:
            told = json.loads(text)
            found: list[dict[str, Any]] = told["companies"]
        except (ValueError, KeyError, TypeError) as error:
            raise typer.BadParameter(f'{file}: no JSON object with "companies": {error}') from error
        return found
    if sum(map(bool, (urls, sitemap, begin))) != 1:
        from penstock.cli.errors import USAGE, CliError

        raise CliError(USAGE, "Give pages, --sitemap, --start or --file, one of them.")
    one: dict[str, Any] = {"company": company}
    if urls:
        one["urls"] = urls
    if sitemap is not None:
        one["sitemap"] = sitemap
    if begin is not None:
        one["start"] = {"url": begin, "follow": follow or [], "limit": limit}
    return [one]


async def _start(order: dict[str, Any], wait: bool) -> dict[str, Any]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        receipt: dict[str, Any] = await penstock.post("/api/runs", order)
        while wait:
            run: dict[str, Any] = await penstock.get(f"/api/runs/{receipt['runId']}")
            if run["status"] in _ENDED:
                return run
            if penstock.here is not None:
                # No worker runs: this command does the work.
                path = f"/api/jobs/{receipt['runId']}/kickoff"
                await penstock.post(path, durationMs=_KICKOFF_MS)
            else:
                await asyncio.sleep(_LOOK_S)
        return receipt


@app.command("list")
def list_runs(
    limit: Annotated[int, typer.Option(min=1, help="Most runs to list.")] = 20,
    json: printing.Json = False,
) -> None:
    """List runs, newest first."""
    found = asyncio.run(_first("/api/runs", limit))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["id"], one["status"], *_numbers(one["counts"]), printing.moment(one["createdAt"]),
         one["name"])
        for one in found
    ]  # fmt: skip
    printing.columns(("ID", "STATUS", *_HEADS, "CREATED", "NAME"), rows)


@app.command("show")
def show(run: RunRef, json: printing.Json = False) -> None:
    """Show a run with its companies."""
    found = asyncio.run(_call("GET", f"/api/runs/{run}"))
    if json:
        printing.as_json(found)
    else:
        _print_run(found)


@app.command("abort")
def abort(run: RunRef) -> None:
    """Abort a run: no page is requested any more."""
    found = asyncio.run(_call("POST", f"/api/runs/{run}/abort"))
    print(f"Run {run} is {found['status']}.")


@app.command("extract")
def extract(run: RunRef) -> None:
    """Extract the stored pages of a run again, for example with a newer version of Penstock."""
    order = {
        "scope": "job", "stage": "extract", "resetAttempts": True,
        "statuses": ["DONE", "SKIPPED", "ERROR"],
    }  # fmt: skip
    made = asyncio.run(_call("POST", f"/api/jobs/{run}/reprocess", order))
    print(f"{printing.count(made['reprocessed'], 'page is', 'pages are')} extracted again.")


@app.command("pages")
def pages(
    company: Annotated[str, typer.Option(help="Of this company only.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="Most pages to list.")] = 50,
    json: printing.Json = False,
) -> None:
    """List crawled pages with their newest version."""
    found = asyncio.run(_first("/api/pages", limit, company=company or None))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["id"], one["company"], one["state"], one["version"], one["kind"] or "", one["url"])
        for one in found
    ]
    printing.columns(("ID", "COMPANY", "STATE", "VERSION", "KIND", "URL"), rows)


@app.command("postings")
def postings(
    q: Annotated[str, typer.Option("--q", help="Words in title, employer or location.")] = "",
    company: Annotated[str, typer.Option(help="Of this company only.")] = "",
    limit: Annotated[int, typer.Option(min=1, help="Most postings to list.")] = 50,
    json: printing.Json = False,
) -> None:
    """List job postings."""
    found = asyncio.run(_first("/api/postings", limit, q=q or None, company=company or None))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["id"], one["state"], one["company"], one["title"],
         "; ".join(map(str, one["fields"].get("locations") or ())), one["url"])
        for one in found
    ]  # fmt: skip
    printing.columns(("ID", "STATE", "COMPANY", "TITLE", "LOCATIONS", "URL"), rows)


@app.command("delete-page")
def delete_page(
    page: Annotated[UUID, typer.Argument(metavar="PAGE", help="The page's id.")],
    yes: Yes = False,
) -> None:
    """Delete a page with its versions and its job posting; its products stay."""
    if not yes:
        typer.confirm(f"Delete page {page} with its versions?", abort=True, err=True)
    asyncio.run(_call("DELETE", f"/api/pages/{page}"))
    print(f"Page {page} is deleted.")


@app.command("delete-posting")
def delete_posting(
    posting: Annotated[UUID, typer.Argument(metavar="POSTING", help="The posting's id.")],
    yes: Yes = False,
) -> None:
    """Delete a job posting; its page stays."""
    if not yes:
        typer.confirm(f"Delete job posting {posting}?", abort=True, err=True)
    asyncio.run(_call("DELETE", f"/api/postings/{posting}"))
    print(f"Job posting {posting} is deleted.")


# Failed pages that are shown with a run.
_MOST_FAILURES = 5
_NAMES = ("pending", "crawled", "ready", "skipped", "expired", "error")
_HEADS = tuple(name.upper() for name in _NAMES)


def _numbers(counts: dict[str, int]) -> tuple[int, ...]:
    return tuple(counts[name] for name in _NAMES)


def _print_run(run: dict[str, Any]) -> None:
    printing.fields(
        [("id", run["id"]), ("name", run["name"]), ("status", run["status"]),
         ("finished", printing.moment(run["finishedAt"]))]
    )  # fmt: skip
    rows = [
        (one["company"], *_numbers(one["counts"]), "stopped" if one["stopped"] else "")
        for one in run["companies"]
    ]
    printing.columns(("COMPANY", *_HEADS, ""), rows)
    if run["counts"]["error"]:
        _print_failures(run["id"])


def _print_failures(run_id: str) -> None:
    """The first pages that failed, with the reason."""
    path = f"/api/jobs/{run_id}/items?statuses=ERROR&pageSize={_MOST_FAILURES}"
    found = asyncio.run(_call("GET", path))
    print("\nFailed pages:")
    for one in found["items"]:
        error = one["error"] or {}
        print(f"  {one['input'].get('url')}  {error.get('code')}: {error.get('message')}")
    if found["next"]:
        print(f"There are more: penstock items list {run_id} --status ERROR")


async def _call(method: str, path: str, body: Any = None) -> Any:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        if method == "GET":
            return await penstock.get(path)
        if method == "DELETE":
            return await penstock.client.call(method, path)
        return await penstock.post(path, body)


async def _first(path: str, limit: int, **filters: Any) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return await penstock.first(path, limit, **filters)
