"""`penstock rates`: exchange rates, by day."""

from __future__ import annotations

import asyncio
import csv
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli import printing

app = typer.Typer(help="Exchange rates, by day.", no_args_is_help=True)
Base = Annotated[str, typer.Option(help="The currency that the rates are in.")]
_HEAD = ["day", "currency", "rate"]


@app.command("import")
def import_rates(
    file: Annotated[Path, typer.Argument(metavar="FILE", exists=True, dir_okay=False,
                    help="CSV with the columns day, currency, rate: 2026-01-31,EUR,1.0856.")],
    base: Base = "USD",
    json: printing.Json = False,
) -> None:  # fmt: skip
    """Import exchange rates of a day; a known day is replaced."""
    rates = _read(file)
    asyncio.run(_save(base, rates))
    if json:
        printing.as_json({"base": base, "rates": len(rates)})
    else:
        print(f"{len(rates):,} rates in {base} are saved.")


def _read(file: Path) -> list[tuple[date, str, Decimal]]:
    from penstock.cli.errors import USAGE, CliError

    with file.open(encoding="utf-8-sig", newline="") as opened:
        lines = csv.reader(opened)
        head = [cell.strip().casefold() for cell in next(lines, [])]
        if head != _HEAD:
            raise CliError(USAGE, f"{file}: the first line must be {','.join(_HEAD)}.")
        found = []
        for number, line in enumerate(lines, 2):
            if not line:
                continue
            try:
                day, currency, rate = (cell.strip() for cell in line)
                worth = Decimal(rate)
                if worth <= 0 or len(currency) != 3 or not currency.isalpha():
                    raise ValueError
                found.append((date.fromisoformat(day), currency.upper(), worth))
            except (ValueError, InvalidOperation):
                raise CliError(
                    USAGE, f"{file}, line {number}: expected day,currency,rate, got {line}."
                ) from None
    return found


async def _save(base: str, rates: list[tuple[date, str, Decimal]]) -> None:
    from penstock.app.profiles import import_rates as save_rates
    from penstock.cli.local_session import local_admin, transaction
    from penstock.store.accounts.audit_log import Caller

    async with transaction() as conn:
        await save_rates(conn, Caller(await local_admin(conn)), base.upper(), rates)
