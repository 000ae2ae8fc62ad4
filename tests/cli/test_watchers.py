"""`penstock watchers`, and the commands of its how-to."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, environment

from penstock.guards.sealing import new_key

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "watch-a-folder.md"
KEY = new_key()


@pytest.fixture
def cli(unserved_cli: Cli) -> Cli:
    return replace(unserved_cli, env={**unserved_cli.env, "PENSTOCK_SECRET_KEY": KEY})


@pytest.mark.slow
def test_the_commands_of_the_page_work(cli: Cli, tmp_path: Path) -> None:
    blocks = re.findall(r"```bash\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 3
    prelude = f'set -eu\npenstock() {{ "{sys.executable}" -m penstock "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-c", prelude + "\n".join(blocks)],
        env=environment(cli.data_dir, **cli.env), cwd=tmp_path, text=True, capture_output=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "It can be read: 0 files, 0 of them match." in done.stdout
    assert "1 file found, 1 submitted, 0 skipped, 0 failed." in done.stdout
    assert done.stdout.splitlines()[-1] == "goods.csv"


@pytest.mark.slow
def test_a_watchers_life(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "broken.csv").write_bytes(b"")
    (tmp_path / "in" / "broken.csv.done").write_bytes(b"")
    cli = replace(cli, env={**cli.env, "PENSTOCK_WATCH_ROOTS": str(tmp_path)})
    made = cli.json("watchers", "add", "folder", tmp_path / "in", "--marker", "--every", "30")
    assert (made["test"]["matching"], made["everySeconds"]) == (1, 30)
    assert not made["hasCredentials"]
    assert made["id"] in cli("watchers", "list").stdout
    failed = cli("watchers", "scan", made["id"], code=1).stdout
    assert "broken.csv: EMPTY_FILE" in failed
    [file] = cli.json("watchers", "files", made["id"], "--state", "failed")
    assert file["error"]["code"] == "EMPTY_FILE"
    cli("watchers", "pause", made["id"])
    assert cli.json("watchers", "show", made["id"])["enabled"] is False
    cli("watchers", "resume", made["id"])
    cli("watchers", "remove", made["id"], "--yes")
    cli("watchers", "show", made["id"], code=4)
    missing = str(tmp_path / "none")
    assert "is not created" in cli("watchers", "add", "folder", missing, code=1).stderr
    assert "It is not tested" in cli("watchers", "add", "folder", missing, "--no-test").stdout
    refused = cli("watchers", "add", "folder", "/etc", code=2).stderr
    assert "PENSTOCK_WATCH_ROOTS" in refused
