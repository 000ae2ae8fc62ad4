"""What holds for every command: help, settings, errors in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest
import typer
from tests.cli.conftest import Cli, environment

from penstock import __version__
from penstock.cli import app

HEAVY = ("pydantic", "asyncpg", "fastapi", "structlog", "uvicorn", "penstock.settings")


def test_the_version_is_told(lone_cli: Cli) -> None:
    assert lone_cli("--version").stdout == f"penstock {__version__}\n"


def test_help_loads_nothing_heavy(lone_cli: Cli) -> None:
    code = f"import sys, penstock.cli; print([m for m in {HEAVY} if m in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(lone_cli.data_dir),
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout == "[]\n"


@pytest.mark.parametrize(
    "command",
    ["up", "api", "worker", "extract", "migrate", "doctor", "jobs watch", "keys create"],
)
def test_every_command_explains_itself(lone_cli: Cli, command: str) -> None:
    assert "Usage: " in lone_cli(*command.split(), "--help").stdout


def test_a_wrong_setting_is_named(lone_cli: Cli) -> None:
    said = lone_cli("jobs", "list", code=2, PENSTOCK_PORT="99999").stderr
    assert said == "penstock: PENSTOCK_PORT: must be at most 65535.\n"


def test_settings_that_contradict_each_other_are_named(lone_cli: Cli) -> None:
    said = lone_cli("doctor", code=2, PENSTOCK_CLAIM_MIN="9", PENSTOCK_CLAIM_MAX="8").stderr
    assert said == "penstock: PENSTOCK_CLAIM_MIN must not exceed PENSTOCK_CLAIM_MAX.\n"


def test_config_show_tells_sources_and_hides_secrets(lone_cli: Cli) -> None:
    url = "postgresql://someone:secret-word@localhost/x"
    shown = lone_cli("config", "show", "--json", PENSTOCK_DATABASE_URL=url)
    assert "secret-word" not in shown.stdout
    settings = {one["variable"]: one for one in json.loads(shown.stdout)}
    assert settings["PENSTOCK_DATA_DIR"]["source"] == "environment"
    assert settings["PENSTOCK_PORT"]["value"] == 8600
    assert settings["PENSTOCK_PORT"]["source"] == "default"


def test_a_database_that_is_away_ends_with_5(lone_cli: Cli) -> None:
    url = "postgresql://someone@127.0.0.1:1/x"
    said = lone_cli("jobs", "list", code=5, PENSTOCK_DATABASE_URL=url).stderr
    assert said.startswith("penstock: PostgreSQL did not answer")
    assert said.count("\n") == 1


def test_debug_shows_the_trace(lone_cli: Cli) -> None:
    done = lone_cli.start("--debug", "jobs", "list", PENSTOCK_PORT="99999")
    _, said = done.communicate(timeout=60)
    assert done.returncode == 1
    assert "Traceback" in said


@pytest.mark.parametrize(
    ("variables", "toml", "said"),
    [
        ({"PENSTOCK_PROT": "1"}, "", "no setting PENSTOCK_PROT. Did you mean PENSTOCK_PORT?"),
        ({"PENSTOCK_QQQ": "1"}, "", "`penstock config show` lists all there are."),
        ({}, "prt = 1", "penstock.toml: there is no setting prt. Did you mean port?"),
        ({}, "port = ", "penstock.toml cannot be read"),
        ({"PENSTOCK_CONFIG": "none.toml"}, "", "there is no file none.toml."),
        ({"PENSTOCK_DATABASE_URL_FILE": "none"}, "", "none cannot be read"),
        (
            {"PENSTOCK_DATABASE_URL_FILE": "a", "PENSTOCK_DATABASE_URL": "b"},
            "",
            "PENSTOCK_DATABASE_URL and PENSTOCK_DATABASE_URL_FILE are both set",
        ),
    ],
)
def test_settings_nobody_knows_are_refused(
    lone_cli: Cli, variables: dict[str, str], toml: str, said: str
) -> None:
    if toml:
        (lone_cli.cwd / "penstock.toml").write_text(toml)
    assert said in lone_cli("config", "show", code=2, **variables).stderr


def test_where_settings_come_from(lone_cli: Cli) -> None:
    """Environment, then .env, then TOML, then the default; a secret from its file."""
    here = lone_cli.cwd
    (here / "penstock.toml").write_text(
        'port = 1\nhost = "toml"\nworkers = 1\ncors_origins = ["https://a", "https://b"]\n'
    )
    (here / ".env").write_text("PENSTOCK_PORT=2\nPENSTOCK_HOST=dotenv\nOTHER=1\n")
    (here / "secret").write_text("postgresql://someone:secret-word@localhost/x\n")
    shown = lone_cli(
        *("config", "show", "--json"),
        PENSTOCK_PORT="3",
        PENSTOCK_CLAIM_MIN="",
        PENSTOCK_DATABASE_URL_FILE="secret",
    )
    assert "secret-word" not in shown.stdout
    settings = {
        one["variable"].removeprefix("PENSTOCK_").lower(): (one["value"], one["source"])
        for one in json.loads(shown.stdout)
    }
    assert settings["port"] == (3, "environment")
    assert settings["host"] == ("dotenv", ".env")
    assert settings["workers"] == (1, "penstock.toml")
    assert settings["cors_origins"] == ("https://a,https://b", "penstock.toml")
    assert settings["claim_min"] == (1, "default")
    assert settings["database_url"] == ("**********", "file secret")


def test_the_terminal_breaks_the_lines_of_help() -> None:
    texts = [command.help or "" for group in _groups(app) for command in group.registered_commands]
    assert len(texts) > 100
    assert [text for text in texts if not text or "\n" in text.replace("\n\n", "")] == []


def _groups(group: typer.Typer) -> Iterator[typer.Typer]:
    yield group
    for one in group.registered_groups:
        assert one.typer_instance is not None
        yield from _groups(one.typer_instance)


def test_a_file_in_another_encoding_is_named_as_such(lone_cli: Cli) -> None:
    (lone_cli.cwd / "rates.csv").write_bytes("Währung;Kurs".encode("cp1252"))
    told = lone_cli("profiles", "import", "rates.csv", code=2).stderr
    assert told == "penstock: The file is not text in UTF-8: save it as UTF-8, and try again.\n"
