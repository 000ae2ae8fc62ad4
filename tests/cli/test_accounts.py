"""Orgs, users and keys."""

from __future__ import annotations

from pathlib import Path

import asyncpg
from tests.cli.conftest import Cli

from penstock.settings import Settings
from penstock.store.accounts.accounts import principal_of
from penstock.store.accounts.sessions import Lifetime, add_session, password_of
from penstock.store.database import Database
from penstock.supervisor.postgres import EmbeddedPostgres


async def test_a_key_is_printed_once_and_works(cli: Cli, served_folder: Settings) -> None:
    made = cli.json("keys", "create", "--org", "acme", "--plan", "premium", "--role", "viewer")
    assert set(made) == {"key", "org", "role"}
    assert (made["org"], made["role"]) == ("acme", "viewer")
    owner = EmbeddedPostgres(served_folder.data_dir).owner_dsn
    db = await Database(owner, served_folder.database_schema, size=1).open()
    async with db.acquire() as conn:
        who = await principal_of(conn, made["key"])
    await db.close()
    assert who is not None
    assert (who.email, who.role, who.org, who.plan) == ("viewer@acme", "viewer", "acme", "premium")


def test_a_key_alone_is_on_stdout(cli: Cli) -> None:
    made = cli("keys", "create", "--org", "pipes", "--user", "ann@pipes.example", "--name", "ci")
    assert made.stdout.startswith("pk_")
    assert made.stdout.count("\n") == 1


def test_an_org_that_exists_keeps_its_plan(cli: Cli) -> None:
    cli("orgs", "create", "kept", "--plan", "basic")
    again = cli("keys", "create", "--org", "kept", "--plan", "trial")
    assert "keeps its plan, basic" in again.stderr
    listed = {org["org"]: org["plan"] for org in cli.json("orgs", "list")}
    assert listed["kept"] == "basic"
    assert listed["default"] == "standard"


def test_users_belong_to_an_org_that_exists(cli: Cli) -> None:
    cli("users", "create", "bob@example.com", "--org", "nowhere", code=4)
    cli("orgs", "create", "somewhere")
    made = cli.json("users", "create", "bob@example.com", "--org", "somewhere", "--role", "admin")
    password = made.pop("password")
    assert len(password) > 20
    assert made == {"email": "bob@example.com", "org": "somewhere", "role": "admin"}
    again = cli("users", "create", "BOB@example.com", "--org", "somewhere", code=1)
    assert "already" in again.stderr


def test_users_are_listed_changed_and_shut_out(cli: Cli) -> None:
    cli("orgs", "create", "staff")
    cli("users", "create", "eve@staff", "--org", "staff")
    cli("users", "set-role", "eve@staff", "viewer")
    assert cli("users", "disable", "eve@staff").stdout == (
        "eve@staff is viewer of staff: disabled.\n"
    )
    [eve] = cli.json("users", "list", "--org", "staff")
    assert (eve["role"], bool(eve["disabledAt"])) == ("viewer", True)
    assert cli.json("users", "enable", "eve@staff")["disabledAt"] is None
    cli("users", "disable", "nobody@staff", code=4)
    assert "eve@staff" in cli("users", "list").stdout


def test_a_password_is_reset_and_printed_once_or_given(cli: Cli, tmp_path: Path) -> None:
    cli("orgs", "create", "resets")
    cli("users", "create", "ada@resets", "--org", "resets")
    said = cli("users", "reset-password", "ada@resets")
    assert len(said.stdout.strip()) > 20
    given = tmp_path / "password"
    given.write_text("a password of my own\n")
    made = cli.json("users", "reset-password", "ada@resets", "--password-file", given)
    assert made == {"email": "ada@resets"}
    given.write_text("short\n")
    said = cli("users", "reset-password", "ada@resets", "--password-file", given, code=2)
    assert "12 to 256 characters" in said.stderr


def test_keys_have_scopes_and_an_end_and_are_revoked(cli: Cli) -> None:
    cli("keys", "create", "--org", "keyed", "--scope", "read", "--days", "3", "--name", "bi")
    [key] = cli.json("keys", "list", "--user", "member@keyed")
    assert (key["scopes"], key["name"], bool(key["expiresAt"])) == (["read"], "bi", True)
    cli("keys", "revoke", str(key["id"]))
    assert "revoked" in cli("keys", "list", "--user", "member@keyed").stdout
    cli("keys", "revoke", "999999", code=4)
    said = cli("keys", "create", "--org", "keyed", "--scope", "admin", code=2)
    assert "cannot have a key with the scope" in said.stderr


def test_what_is_wrong_is_said(cli: Cli) -> None:
    cli("orgs", "create", "x", "--plan", "gold", code=2)
    assert "cannot name an org" in cli("orgs", "create", "no spaces", code=2).stderr
    cli("orgs", "create", "fine")
    assert "no e-mail" in cli("users", "create", "bob", "--org", "fine", code=2).stderr


async def test_only_the_hash_of_a_key_is_kept(cli: Cli, served_folder: Settings) -> None:
    key = cli.json("keys", "create", "--org", "hashed")["key"]
    conn = await asyncpg.connect(EmbeddedPostgres(served_folder.data_dir).owner_dsn)
    stored = await conn.fetch(f"SELECT k::text FROM {served_folder.database_schema}.api_keys k")
    await conn.close()
    assert not any(key in row["k"] for row in stored)


async def test_sessions_are_listed_and_ended(cli: Cli, served_folder: Settings) -> None:
    cli("orgs", "create", "desk")
    cli("users", "create", "zoe@desk", "--org", "desk")
    owner = EmbeddedPostgres(served_folder.data_dir).owner_dsn
    db = await Database(owner, served_folder.database_schema, size=1).open()
    async with db.transaction() as conn:
        known = await password_of(conn, "zoe@desk")
        assert known is not None
        await add_session(conn, known.who, Lifetime(60, 60), ip="192.0.2.7", agent="Desk/1.0")
    await db.close()
    (seen,) = cli.json("sessions", "list", "--user", "zoe@desk")
    assert (seen["email"], seen["ip"], seen["agent"]) == ("zoe@desk", "192.0.2.7", "Desk/1.0")
    assert seen["id"] in cli("sessions", "list").stdout
    assert cli.json("sessions", "end", seen["id"])["ended"] is True
    assert cli.json("sessions", "list", "--user", "zoe@desk") == []
    cli("sessions", "end", seen["id"], code=4)
