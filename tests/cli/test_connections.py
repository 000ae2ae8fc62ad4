"""`penstock connections` against a running `penstock sandbox`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from tests.cli.conftest import Cli, environment

from penstock.guards.sealing import new_key

KEY = new_key()


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    command = [sys.executable, "-m", "penstock", "sandbox", "--port", "0", "--products", "7"]
    env = environment(tmp_path_factory.mktemp("sandbox"))
    with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, text=True, env=env) as made:
        assert made.stdout is not None
        yield json.loads(made.stdout.readline())
        made.terminate()
        assert made.wait(10) == 0


@pytest.fixture(scope="module")
def server_env(sandbox: dict[str, Any]) -> dict[str, str]:
    return {
        "PENSTOCK_PROVIDER_ALLOW": "127.0.0.1", "PENSTOCK_SANDBOX_URL": sandbox["url"],
        "PENSTOCK_SECRET_KEY": KEY,
    }  # fmt: skip


@pytest.fixture
def shops(cli: Cli, server_env: dict[str, str]) -> Cli:
    return replace(cli, env={**cli.env, **server_env})


def with_key(cli: Cli, key: str) -> Cli:
    return replace(cli, env={**cli.env, "PENSTOCK_SECRET_KEY": key})


def credentials_of(sandbox: dict[str, Any], provider: str) -> tuple[str, list[str]]:
    shop = next(one for one in sandbox["shops"] if one["provider"] == provider)
    given = [
        part for name, v in shop["credentials"].items() for part in ("--credential", f"{name}={v}")
    ]
    return shop["address"], given


def test_a_connections_life(shops: Cli, sandbox: dict[str, Any], tmp_path: Path) -> None:
    address, given = credentials_of(sandbox, "shopify")
    made = shops.json("connections", "add", "shopify", address, *given, "--name", "Mine")
    assert made["test"]["shop"]["products"] == 7
    secret = given[1].partition("=")[2]
    listed = shops("connections", "list").stdout
    assert made["id"] in listed
    assert "ok" in listed
    assert secret not in listed + json.dumps(made)
    assert len(shops.json("connections", "products", made["id"])) == 7
    found = shops("connections", "products", made["id"], "--limit", "3").stdout
    assert len(found.splitlines()) == 4

    file = tmp_path / "token"
    file.write_text("wrong-token\n")
    wrong = ("connections", "rotate", made["id"], "--credential", f"token=@{file}")
    failed = shops(*wrong, code=1)
    assert "PROVIDER_FAILED" in failed.stderr
    assert "The old ones are kept" in failed.stderr
    shops("connections", "test", made["id"])
    stored = shops(*wrong, "--no-test").stdout
    assert "not tested" in stored
    shops("connections", "test", made["id"], code=1)
    file.write_text(secret)
    works = shops("connections", "rotate", made["id"], "--credential", f"token=@{file}").stdout
    assert "new credentials are stored" in works
    shops("connections", "rename", made["id"], "Other")
    assert shops.json("connections", "show", made["id"])["name"] == "Other"
    gone = shops("connections", "delete", made["id"], "--yes").stdout
    assert "0 of its products stay" in gone
    shops("connections", "show", made["id"], code=4)


def test_what_can_be_connected_and_the_demo(shops: Cli) -> None:
    kinds = shops("connections", "providers").stdout
    assert "consumerSecret" in kinds
    made = shops.json("connections", "demo")
    assert [one["provider"] for one in made] == ["shopify", "woocommerce", "roastify"]
    for one in made:
        assert shops.json("connections", "test", one["id"])["ok"]
        shops("connections", "delete", one["id"], "--yes")


def test_wrong_orders_are_explained(shops: Cli, sandbox: dict[str, Any]) -> None:
    address, given = credentials_of(sandbox, "roastify")
    told = shops("connections", "add", "ebay", address, *given, code=2).stderr
    assert "choose one of roastify, shopify, woocommerce" in told
    told = shops("connections", "add", "roastify", address, "--credential", "apiKey", code=2).stderr
    assert "NAME=VALUE" in told
    told = shops("connections", "add", "roastify", "http://10.0.0.1", *given, code=2).stderr
    assert "not allowed" in told
    both = ("--product", "1", "--since", "last")
    told = shops("shops", "import", str(uuid4()), *both, code=2).stderr
    assert "--product or --since" in told


def test_doctor_and_reseal_include_connections(
    unserved_cli: Cli, server_env: dict[str, str], sandbox: dict[str, Any]
) -> None:
    shops = replace(unserved_cli, env={**unserved_cli.env, **server_env})
    address, given = credentials_of(sandbox, "roastify")
    made = shops.json("connections", "add", "roastify", address, *given)
    fresh = new_key()
    assert "open with this machine's key" in shops("doctor").stdout
    told = with_key(shops, fresh)("doctor", code=1).stdout
    assert "does not open with the keys of this machine" in told
    assert with_key(shops, f"{fresh},{KEY}").json("secrets", "reseal")["resealed"] >= 1
    assert with_key(shops, fresh).json("connections", "test", made["id"])["ok"]
    with_key(shops, f"{KEY},{fresh}")("secrets", "reseal")
    shops("connections", "delete", made["id"], "--yes")
