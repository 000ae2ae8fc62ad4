"""`penstock doctor`."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

import typer

from penstock.cli import printing


def doctor(json: printing.Json = False) -> None:
    """Check that Penstock can run here, and say what to do if it cannot."""
    from penstock.cli.local_session import quiet_logs
    from penstock.cli.operate.checks import run_checks
    from penstock.settings import Settings

    quiet_logs()
    checks = asyncio.run(run_checks(Settings()))
    failed = any(check.status == "fail" for check in checks)
    if json:
        printing.as_json({"ok": not failed, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            todo = f" {check.todo}" if check.todo else ""
            print(f"{check.status:<5} {check.name}: {check.message}{todo}")
    raise typer.Exit(1 if failed else 0)
