"""What holds for every command: help, settings, errors in one line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.cli.conftest import Cli, environment

from penstock import __version__

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
    assert said == "penstock: PENSTOCK_PORT: Input should be less than or equal to 65535.\n"


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
    _, said = done.communicate(timeout=30)
    assert done.returncode == 1
    assert "Traceback" in said
