"""`penstock providers`: limits and circuits of providers, and their reset."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from penstock.cli import printing

app = typer.Typer(help="Limits and circuits of providers.", no_args_is_help=True)


@app.command("list")
def list_providers(json: printing.Json = False) -> None:
    """List limits and circuits, with the calls of the last 15 minutes."""
    found = asyncio.run(_list())
    if json:
        printing.as_json(found)
        return
    rows = [_row(key) for provider in found for key in provider["keys"] or [_unused(provider)]]
    head = ("PROVIDER", "ORG", "DOMAIN", "CIRCUIT", "NEXT PROBE (UTC)", "LIMIT", "TOKENS", "CALLS",
            "FAILED", "429", "P95 MS")  # fmt: skip
    printing.columns(head, rows)


@app.command("reset")
def reset(
    key: Annotated[str, typer.Argument(metavar="PROVIDER", help="Such as shopify.")],
    json: printing.Json = False,
) -> None:
    """Close the circuits of a provider and end its pauses."""
    done = asyncio.run(_reset(key))
    if json:
        printing.as_json(done)
    else:
        print(f"Reset {done['reset']} limits and circuits of {done['key']}.")


def _unused(provider: dict[str, Any]) -> dict[str, Any]:
    nothing = {"state": provider["circuit"], "nextProbeAt": None}
    return {**provider, "provider": provider["key"], "org": "", "domain": None, "p95Ms": None,
            "circuit": nothing, "limit": {**provider["limit"], "tokens": ""}}  # fmt: skip


def _row(key: dict[str, Any]) -> tuple[Any, ...]:
    circuit, limit = key["circuit"], key["limit"]
    probe = circuit["nextProbeAt"]
    return (
        key["provider"], key["org"], key["domain"] or key.get("company") or "",
        circuit["state"].replace("_", "-"), printing.moment(probe) if probe else "",
        f"{limit['perSecond']:g}/s, burst {limit['burst']:g}", limit["tokens"], key["calls"],
        key["failed"], key["throttled"], "" if key["p95Ms"] is None else key["p95Ms"],
    )  # fmt: skip


async def _list() -> list[dict[str, Any]]:
    from penstock.cli.connection import connected

    async with connected() as penstock:
        providers: list[dict[str, Any]] = (await penstock.get("/api/providers"))["items"]
        return providers


async def _reset(key: str) -> dict[str, Any]:
    from urllib.parse import quote

    from penstock.cli.connection import connected

    async with connected() as penstock:
        done: dict[str, Any] = await penstock.post(f"/api/providers/{quote(key, safe='')}/reset")
        return done
