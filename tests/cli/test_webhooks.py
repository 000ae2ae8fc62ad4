"""`penstock webhooks` and `penstock secrets`, as people call them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.cli.conftest import Cli

from penstock.guards.sealing import new_key

KEY = new_key()


@pytest.fixture
def webhooks(unserved_cli: Cli) -> Cli:
    """The settings decide which URLs are allowed, so these commands ask no other server."""
    return replace(unserved_cli, env={**unserved_cli.env, "PENSTOCK_WEBHOOK_ALLOW": "127.0.0.1"})


def create(cli: Cli, *options: str, key: str = KEY) -> Any:
    made = cli.json("webhooks", "create", "http://127.0.0.1:9/hook", *options,
                    PENSTOCK_SECRET_KEY=key)  # fmt: skip
    assert made["secret"].startswith("whsec_")
    return made


def test_a_webhooks_life(webhooks: Cli) -> None:
    made = create(webhooks, "--event", "job.*")
    assert made["events"] == ["job.*"]
    listed = webhooks("webhooks", "list").stdout
    assert made["id"] in listed
    assert "whsec_" not in listed
    changed = webhooks.json("webhooks", "change", made["id"], "--disable", "--description", "ERP")
    assert (changed["enabled"], changed["description"]) == (False, "ERP")
    webhooks("webhooks", "test", made["id"], code=1)
    webhooks("webhooks", "delete", made["id"])
    webhooks("webhooks", "show", made["id"], code=4)


def test_tests_and_new_secrets(webhooks: Cli) -> None:
    made = create(webhooks)
    asked = webhooks.json("webhooks", "test", made["id"])["deliveryId"]
    assert webhooks.json("webhooks", "deliveries", made["id"])[0]["id"] == asked
    assert webhooks.json("webhooks", "delivery", asked)["event"] == "webhook.test"
    fresh = webhooks("webhooks", "rotate", made["id"], PENSTOCK_SECRET_KEY=KEY)
    assert "whsec_" in fresh.stdout
    assert "not shown again" in fresh.stderr


def test_webhooks_of_another_org(webhooks: Cli) -> None:
    webhooks("orgs", "create", "other")
    made = create(webhooks, "--org", "other")
    assert made["org"] == "other"
    assert [one["id"] for one in webhooks.json("webhooks", "list", "--org", "other")] == [
        made["id"]
    ]
    assert made["id"] not in webhooks("webhooks", "list").stdout
    webhooks("webhooks", "list", "--org", "unknown", code=4)
    webhooks("webhooks", "delete", made["id"])


def test_what_is_refused(cli: Cli) -> None:
    refused = cli("webhooks", "create", "http://169.254.169.254/", code=2)
    assert "URL_NOT_ALLOWED" in refused.stderr
    cli("webhooks", "create", "http://127.0.0.1/", "--event", "nonsense", code=2)
    cli("webhooks", "redeliver", "00000000-0000-0000-0000-000000000000", code=4)


def test_keys_are_rotated(webhooks: Cli) -> None:
    old, fresh = webhooks("secrets", "new-key").stdout.strip(), new_key()
    made = [create(webhooks), create(webhooks, key=old)]
    # KEY sealed what other tests of this module made, too.
    both = f"{fresh},{old},{KEY}"
    assert webhooks.json("secrets", "reseal", PENSTOCK_SECRET_KEY=both)["resealed"] >= 2
    assert webhooks.json("secrets", "reseal", PENSTOCK_SECRET_KEY=fresh)["resealed"] == 0
    lost = webhooks("secrets", "reseal", PENSTOCK_SECRET_KEY=old, code=1)
    assert "SECRET_KEY_MISSING" in lost.stderr
    assert old not in lost.stderr
    for one in made:
        webhooks("webhooks", "delete", one["id"])
    # Later tests of this module seal with KEY.
    webhooks("secrets", "reseal", PENSTOCK_SECRET_KEY=f"{KEY},{fresh}")
