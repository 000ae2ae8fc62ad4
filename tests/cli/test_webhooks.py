"""`penstock webhooks` and `penstock secrets`, as people call them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.cli.conftest import Cli

from penstock.guards.sealing import new_key

KEY = new_key()


@pytest.fixture(scope="module")
def server_env() -> dict[str, str]:
    return {"PENSTOCK_WEBHOOK_ALLOW": "127.0.0.1", "PENSTOCK_SECRET_KEY": KEY}


def create(cli: Cli, *options: str, key: str = KEY) -> Any:
    made = cli.json("webhooks", "create", "http://127.0.0.1:9/hook", *options,
                    PENSTOCK_SECRET_KEY=key)  # fmt: skip
    assert made["secret"].startswith("whsec_")
    return made


def test_a_webhooks_life(cli: Cli) -> None:
    made = create(cli, "--event", "job.*")
    assert made["events"] == ["job.*"]
    listed = cli("webhooks", "list").stdout
    assert made["id"] in listed
    assert "whsec_" not in listed
    changed = cli.json("webhooks", "change", made["id"], "--disable", "--description", "ERP")
    assert (changed["enabled"], changed["description"]) == (False, "ERP")
    cli("webhooks", "test", made["id"], code=1)
    cli("webhooks", "delete", made["id"])
    cli("webhooks", "show", made["id"], code=4)


def test_tests_and_new_secrets(cli: Cli) -> None:
    made = create(cli)
    asked = cli.json("webhooks", "test", made["id"])["deliveryId"]
    assert cli.json("webhooks", "deliveries", made["id"])[0]["id"] == asked
    assert cli.json("webhooks", "delivery", asked)["event"] == "webhook.test"
    fresh = cli("webhooks", "rotate", made["id"], PENSTOCK_SECRET_KEY=KEY)
    assert "whsec_" in fresh.stdout
    assert "not shown again" in fresh.stderr


def test_webhooks_of_another_org(cli: Cli) -> None:
    cli("orgs", "create", "other")
    made = create(cli, "--org", "other")
    assert made["org"] == "other"
    assert [one["id"] for one in cli.json("webhooks", "list", "--org", "other")] == [made["id"]]
    assert made["id"] not in cli("webhooks", "list").stdout
    cli("webhooks", "list", "--org", "unknown", code=4)
    cli("webhooks", "delete", made["id"])


def test_what_is_refused(cli: Cli) -> None:
    refused = cli("webhooks", "create", "http://169.254.169.254/", code=2)
    assert "URL_NOT_ALLOWED" in refused.stderr
    cli("webhooks", "create", "http://127.0.0.1/", "--event", "nonsense", code=2)
    cli("webhooks", "redeliver", "00000000-0000-0000-0000-000000000000", code=4)


def test_keys_are_rotated(unserved_cli: Cli) -> None:
    # The settings of each command decide the key, so these ask no other server.
    allowed = {"PENSTOCK_WEBHOOK_ALLOW": "127.0.0.1"}
    webhooks = replace(unserved_cli, env={**unserved_cli.env, **allowed})
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
