"""`penstock providers`: what is called, how often, and the reset of circuits."""

from __future__ import annotations

from tests.cli.conftest import Cli


def test_providers_are_listed_and_reset(cli: Cli) -> None:
    shown = cli("providers", "list")
    assert "PROVIDER" in shown.stdout
    assert "1.6667/s, burst 20" in shown.stdout
    found = cli.json("providers", "list")
    assert [(one["key"], one["circuit"]) for one in found] == [
        ("roastify", "closed"), ("shopify", "closed"), ("woocommerce", "closed"),
    ]  # fmt: skip
    assert "Reset 0 limits and circuits of shopify." in cli("providers", "reset", "shopify").stdout
    unknown = cli("providers", "reset", "acme", code=4)
    assert "acme" in unknown.stderr


def test_an_import_of_an_unknown_connection_is_not_found(cli: Cli) -> None:
    gone = cli("shops", "import", "00000000-0000-4000-8000-000000000000", code=4)
    assert "no such connection" in gone.stderr
