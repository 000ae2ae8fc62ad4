"""`penstock sandbox`: a local server that behaves like the shops."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress
from typing import Annotated, Any

import typer

from penstock.cli import printing


def sandbox(
    port: Annotated[int, typer.Option(help="Port of 127.0.0.1; 0: any free one.")] = 8700,
    products: Annotated[int, typer.Option(min=0, max=1_000_000, help="Products per shop.")] = 50,
    faults: Annotated[float, typer.Option(min=0, max=1, help="Share of calls that fail.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Products and faults follow from it.")] = 1,
    shops: Annotated[int, typer.Option(min=1, max=1000, help="Shops per provider to list.")] = 1,
    json: printing.Json = False,
) -> None:
    """Serve made-up shops and procurement APIs on this machine until stopped.

    A server reaches them with PENSTOCK_PROVIDER_ALLOW=127.0.0.1. Credentials are printed; they
    follow from the seed and open nothing else."""
    from penstock.providers.sandbox.server import Sandbox, serve

    made = Sandbox(products, seed, faults)

    def show(_: str) -> None:
        told = made.description(shops)
        if json:
            printing.as_json_line(told)
        else:
            _print(told)

    async def run() -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        for one in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(one, task.cancel)
        with suppress(asyncio.CancelledError):
            await serve(made, port, show)

    asyncio.run(run())


def _print(told: dict[str, Any]) -> None:
    print(f"The sandbox serves {told['url']}. Ctrl-C stops it.\n")
    rows = [
        (
            one["provider"],
            one["address"],
            " ".join(f"{k}={v}" for k, v in one["credentials"].items()),
        )
        for one in told["shops"]
    ]
    printing.columns(("PROVIDER", "ADDRESS", "CREDENTIALS"), rows)
    print()
    sources = [(one["name"], one["url"], one["format"]) for one in told["sources"]]
    printing.columns(("SOURCE", "ADDRESS", "FORMAT"), sources)
    print(f"\nCalls so far: {told['url']}/sandbox/stats", flush=True)
