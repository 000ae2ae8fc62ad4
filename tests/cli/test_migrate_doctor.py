"""`migrate` and `doctor`."""

from __future__ import annotations

import socket
from typing import Any

from tests.cli.conftest import Cli

from penstock.store.migrate import migrations


def by_name(found: Any) -> dict[str, str]:
    return {check["name"]: check["status"] for check in found["checks"]}


def test_migrate_tells_what_it_did_and_doctor_agrees(lone_cli: Cli) -> None:
    cli = lone_cli
    before = by_name(cli.json("doctor"))
    assert before["Database"] == "warn"
    assert not (cli.data_dir / "pg").exists()
    made = cli.json("migrate")
    assert made["applied"] == [f"{one.number:04}_{one.name}" for one in migrations()]
    assert made["adminKeyFile"] == str(cli.data_dir / "admin.key")
    assert cli("migrate").stdout == "The schema is up to date.\n"
    after = cli.json("doctor")
    assert after["ok"] is True
    states = by_name(after)
    assert states.pop("Workers") == "warn"
    assert states.pop("Services") == "warn"
    assert set(states.values()) == {"ok"}
    assert {"Python", "Disk space", "Durability", "Migrations", "Tenancy", "Port"} <= set(states)


def test_a_key_file_that_others_can_read_is_a_failure(cli: Cli) -> None:
    key_file = cli.data_dir / "admin.key"
    key_file.chmod(0o644)
    try:
        said = cli("doctor", code=1).stdout
    finally:
        key_file.chmod(0o600)
    assert f"Run: chmod 600 {key_file}" in said


def test_a_port_that_another_program_holds_is_a_failure(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        found = cli.json("doctor", code=1, PENSTOCK_PORT=str(port))
    assert found["ok"] is False
    assert by_name(found)["Port"] == "fail"


def test_doctor_sees_a_schema_that_is_behind_and_leaves_it_so(cli: Cli) -> None:
    for _ in range(2):
        found = cli.json("doctor", code=1, PENSTOCK_DATABASE_SCHEMA="fresh")
        assert by_name(found)["Migrations"] == "fail"
