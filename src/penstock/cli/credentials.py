"""The option `--credential` of shops, sources and watchers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

Credentials = Annotated[
    list[str] | None,
    typer.Option(
        "--credential",
        metavar="NAME=VALUE",
        help="A credential; `NAME=@FILE` reads a file, `NAME=-` a line of the standard input, so"
        " that no secret is in the list of processes. Several times for several.",
    ),
]


def parse_credentials(given: list[str] | None) -> dict[str, str]:
    found = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals:
            raise typer.BadParameter("write --credential NAME=VALUE")
        if value == "-":
            value = sys.stdin.readline().strip()
        elif value.startswith("@"):
            value = Path(value[1:]).read_text("utf-8").strip()
        found[name] = value
    return found
