"""`penstock preview`: the format of a file, its columns, and the problems of its rows."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from penstock.cli import printing
from penstock.cli.files.extract import (
    ConfigText,
    Mapping,
    ProfileName,
    Sheet,
    SourceName,
    asked_config,
)


def preview(
    file: Annotated[
        str, typer.Argument(metavar="FILE|URL", help="The file to look at.", show_default=False)
    ],
    config: ConfigText = "",
    mapping: Mapping = None,
    profile: ProfileName = "",
    sheet: Sheet = "",
    source: SourceName = "",
    json: printing.Json = False,
) -> None:
    """Preview the import of a file: nothing is written."""
    import uvloop

    from penstock.cli.files.extraction import look_at

    asked = asked_config(config, mapping or [], profile=profile, sheet=sheet, source=source)
    found = uvloop.run(look_at(file, asked))
    if json:
        printing.as_json(found)
    else:
        _show(found)


def _show(found: dict[str, Any]) -> None:
    reading = found["reading"]
    told = [reading["format"], reading.get("encoding"), reading.get("sheet")]
    delimiter = reading.get("delimiter")
    if delimiter:
        told.append(f"delimiter {delimiter!r}")
    about = "" if found["rowsSampled"] == found["rowsEstimated"] else "about "
    summary = found["summary"]
    printing.fields(
        [
            ("File", ", ".join(str(one) for one in told if one)),
            ("Rows", f"{about}{found['rowsEstimated']:,}"),
            ("Profile", _profile(found["profile"])),
            ("Source", found["source"]),
            ("First rows", f"{summary['valid']} valid, {summary['invalid']} invalid"),
            ("Catalog", f"{summary['new']} new, {summary['changed']} changed, "
                        f"{summary['unchanged']} unchanged"
                        + (f", {summary['part']} parts of others" if summary["part"] else "")
                        + (f", {summary['held']} held back" if summary["held"] else "")
                        + (f", {summary['linked']} linked" if summary["linked"] else "")),
            ("Duplicates", summary["duplicatesEstimate"]),
        ]
    )  # fmt: skip
    print()
    rows = [
        (one["column"], one["target"] or "(custom field)", f"{one['confidence']:.0%}", one["how"],
         printing.share(one["fill"]), " ".join(", ".join(one["samples"]).split())[:60])
        for one in found["mapping"]
    ]  # fmt: skip
    printing.columns(("COLUMN", "FIELD", "CONFIDENCE", "HOW", "FILLED", "SAMPLES"), rows)
    for doubt in reading.get("ambiguities", ()):
        printing.note(f"Unsure: {doubt}")
    for asked in found["questions"]:
        printing.note(f"Question: {asked['message']} [{asked['code']}]")
    earlier = found["earlierSource"]
    if earlier is not None:
        rows_have = "1 row has" if earlier["rows"] == 1 else f"{earlier['rows']:,} rows have"
        printing.note(
            f"Question: Is this a list of {earlier['source']}? All rows would be new products of"
            f" {found['source']}, but {rows_have} ids and titles of its products. If so, use"
            f" --source {earlier['source']}."
        )
    for one in found["notes"]:
        printing.note(f"Note: {one}")
    _show_problems(found["rows"])


def _profile(chosen: dict[str, Any]) -> str:
    match chosen["from"]:
        case "proposed":
            return "none saved for these columns; proposed from the file"
        case "saved":
            return f"{chosen['name']}, version {chosen['version']}, found by its columns"
        case _:
            return f"{chosen['name']}, version {chosen['version']}"


def _show_problems(rows: list[dict[str, Any]]) -> None:
    """Print each kind of problem once, with its number of rows and the first of them."""
    kinds: dict[tuple[str, str], list[int]] = {}
    texts: dict[tuple[str, str], str] = {}
    for row in rows:
        for one in row["problems"]:
            kind = (one.get("column") or "", one["code"])
            kinds.setdefault(kind, []).append(row["rowNo"])
            texts.setdefault(kind, one["message"])
    for (column, code), where in sorted(kinds.items(), key=lambda kind: -len(kind[1])):
        times = f"row {where[0]}" if len(where) == 1 else f"{len(where)} rows, first {where[0]}"
        place = f"{column}, {times}" if column else times.capitalize()
        printing.note(f"{place}: {texts[column, code]} [{code}]")
