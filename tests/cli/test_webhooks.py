"""`penstock webhooks` and `penstock secrets`, as people call them."""

from __future__ import annotations

from typing import Any

from tests.cli.conftest import Cli

from penstock.guards.sealing import new_key


def made_here(cli: Cli) -> Any:
    made = cli.json("webhooks", "create", "http://127.0.0.1:9/hook", "--event", "job.*",
                    PENSTOCK_WEBHOOK_ALLOW="127.0.0.1")  # fmt: skip
    assert made["secret"].startswith("whsec_")
    return made


def test_a_webhooks_life(cli: Cli) -> None:
    made = made_here(cli)
    listed = cli("webhooks", "list").stdout
    assert made["id"] in listed
    assert "whsec_" not in listed
    changed = cli.json("webhooks", "change", made["id"], "--disable", "--description", "ERP")
    assert (changed["enabled"], changed["description"]) == (False, "ERP")
    cli("webhooks", "test", made["id"], code=1)
    cli("webhooks", "delete", made["id"])
    cli("webhooks", "show", made["id"], code=4)


def test_tests_and_new_secrets(cli: Cli) -> None:
    made = made_here(cli)
    asked = cli.json("webhooks", "test", made["id"])["deliveryId"]
    assert cli.json("webhooks", "deliveries", made["id"])[0]["id"] == asked
    assert cli.json("webhooks", "delivery", asked)["event"] == "webhook.test"
    fresh = cli("webhooks", "rotate", made["id"])
    assert "whsec_" in fresh.stdout
    assert "not shown again" in fresh.stderr


def test_what_is_refused(cli: Cli) -> None:
    refused = cli("webhooks", "create", "http://169.254.169.254/", code=2)
    assert "URL_NOT_ALLOWED" in refused.stderr
    cli("webhooks", "create", "http://127.0.0.1/", "--event", "nonsense", code=2)
    cli("webhooks", "redeliver", "00000000-0000-0000-0000-000000000000", code=4)


def test_keys_are_rotated(cli: Cli) -> None:
    old, fresh = cli("secrets", "new-key").stdout.strip(), new_key()
    by_folder = made_here(cli)
    made = cli.json("webhooks", "create", "http://127.0.0.1:9/", PENSTOCK_SECRET_KEY=old,
                    PENSTOCK_WEBHOOK_ALLOW="127.0.0.1")  # fmt: skip
    # It sealed what other tests of this module made, too.
    folder = (cli.data_dir / "secret.key").read_text().strip()
    both = f"{fresh},{old},{folder}"
    assert cli.json("secrets", "reseal", PENSTOCK_SECRET_KEY=both)["resealed"] >= 2
    assert cli.json("secrets", "reseal", PENSTOCK_SECRET_KEY=fresh)["resealed"] == 0
    lost = cli("secrets", "reseal", PENSTOCK_SECRET_KEY=old, code=1)
    assert "SECRET_KEY_MISSING" in lost.stderr
    assert old not in lost.stderr
    for one in (made, by_folder):
        cli("webhooks", "delete", one["id"])
