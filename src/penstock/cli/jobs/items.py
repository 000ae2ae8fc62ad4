"""`penstock items`: rows of a job, in a list or one by one with the origin of each value."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from penstock.cli import printing
from penstock.cli.jobs.export import Status
from penstock.cli.jobs.jobs import JobId

app = typer.Typer(help="Single rows of a job.", no_args_is_help=True)
Row = Annotated[int, typer.Argument(metavar="ROW", min=1, help="The row's number.")]
_LONGEST = 60
# Values of a result that are shown in a list.
_TELLING = 3
_NAMES = ("sku", "title", "price")


@app.command("list")
def list_items(
    job_id: JobId,
    status: Annotated[
        list[Status] | None,
        typer.Option("--status", help="Rows in this state; several times for several."),
    ] = None,
    code: Annotated[
        str, typer.Option(metavar="CODE", help="Rows with this error.", show_default=False)
    ] = "",
    q: Annotated[str, typer.Option(help="With this text in a cell.", show_default=False)] = "",
    from_row: Annotated[int, typer.Option(min=1, help="From this row on.")] = 1,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most so many.")] = 20,
    json: printing.Json = False,
) -> None:
    """List rows of a job in order, with their problems. `penstock jobs export` writes all."""
    filters: dict[str, Any] = {"from_row": from_row, "sort": "row"}
    filters |= {"statuses": ",".join(status)} if status else {}
    filters |= {"code": code} if code else {}
    filters |= {"q": q} if q else {}
    found = asyncio.run(_listed(job_id, limit, filters))
    if json:
        printing.as_json(found)
        return
    rows = [
        (one["rowNo"], one["line"] or "", one["status"], _brief(one), _wrong(one)) for one in found
    ]
    printing.columns(("ROW", "LINE", "STATUS", "WHAT", "PROBLEMS"), rows)


@app.command("show")
def show(job_id: JobId, row: Row, json: printing.Json = False) -> None:
    """Show a row: its cells, problems and result, with the origin of each value."""
    from penstock.cli.errors import NOT_FOUND, CliError

    found = asyncio.run(_listed(job_id, 1, {"from_row": row, "sort": "row"}))
    if not found or found[0]["rowNo"] != row:
        raise CliError(NOT_FOUND, f"The job has no row {row}. [NOT_FOUND]")
    item = found[0]
    if json:
        printing.as_json(item)
        return
    known = item["normalized"] or {}
    printing.fields(
        [("Row", f"{item['rowNo']:,}"), ("Line in the file", item["line"] or "unknown"),
         ("Status", item["status"]), ("Tries", item["attempts"]),
         ("Changed (UTC)", printing.moment(item["updatedAt"])),
         ("Problems", _wrong(item) or "none")]
    )  # fmt: skip
    match = known.get("match") or {}
    links = [(one["source"], one["sourceId"], one["title"], one["by"], one["productId"])
             for one in match.get("links", ())]  # fmt: skip
    _table(("SOURCE", "PERHAPS ALSO", "TITLE", "SAME", "PRODUCT"), links)
    given = item["input"]
    cells = given.items() if isinstance(given, dict) else enumerate(given or (), 1)
    _table(("CELL", "IN THE FILE"), [(str(name), cell) for name, cell in cells])
    _table(("FIELD", "RESULT"), (item["result"] or {}).items())
    lineage = [
        (field, column or "", raw or "", rule, f"{sure:.0%}")
        for field, (column, raw, rule, sure) in (known.get("lineage") or {}).items()
    ]
    _table(("FIELD", "COLUMN", "ORIGINAL VALUE", "RULE", "CONFIDENCE"), lineage)


def _table(head: tuple[str, ...], rows: Any) -> None:
    lines = [tuple(_line(cell) for cell in row) for row in rows]
    if lines:
        print()
        printing.columns(head, lines)


def _brief(item: dict[str, Any]) -> str:
    """The values by which people know the row, else its first ones."""
    given = item["result"] or item["input"] or {}
    values = list(given.values()) if isinstance(given, dict) else list(given)
    named = [given.get(name) for name in _NAMES] if isinstance(given, dict) else []
    said = [str(one) for one in (named if any(named) else values) if one not in (None, "")]
    return _line(", ".join(said[:_TELLING]))


def _wrong(item: dict[str, Any]) -> str:
    problems = (item["normalized"] or {}).get("problems") or [item["error"]]
    return "; ".join(
        f"{one['column']}: {one['message']} [{one['code']}]"
        if one.get("column")
        else f"{one['message']} [{one['code']}]"
        for one in problems
        if one
    )


def _line(value: Any) -> str:
    text = " ".join(("" if value is None else str(value)).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


async def _listed(job_id: UUID, limit: int, filters: dict[str, Any]) -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        return await penstock.first(f"/api/jobs/{job_id}/items", limit, **filters)
