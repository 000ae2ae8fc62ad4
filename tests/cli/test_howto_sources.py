"""The tutorial of sources, command by command, against a running sandbox."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli, environment
from tests.cli.test_connections import sandbox, server_env, shops

__all__ = ["sandbox", "server_env", "shops"]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "add-a-source.md"


@pytest.mark.slow
def test_the_commands_of_the_page_work(shops: Cli, sandbox: dict[str, Any], tmp_path: Path) -> None:
    blocks = re.findall(r"```bash\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 4
    prelude = f'set -eu\npenstock() {{ "{sys.executable}" -m penstock "$@"; }}\n'
    worker = shops.start("worker", PENSTOCK_LOG_LEVEL="error")
    try:
        done = subprocess.run(
            ["bash", "-c", prelude + "\n".join(blocks)],
            env=environment(shops.data_dir, **shops.env), cwd=tmp_path, text=True,
            capture_output=True, timeout=240, check=False,
        )  # fmt: skip
    finally:
        worker.terminate()
        worker.communicate(timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "market.toml describes the source market." in done.stdout
    assert "Source market is created." in done.stdout
    assert "Authorization: ***" in done.stdout
    assert "RANK" in done.stdout
    token = (tmp_path / "token.txt").read_text().strip()
    assert token
    assert token not in done.stdout + done.stderr


def test_a_file_that_cannot_be_used_is_refused_with_its_line(shops: Cli, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(
        'name = "bad"\nurl = "https://api.example.com/x"\n\n[mapping]\ntitle = "name"\n'
        "brand = \"open('/etc/passwd')\"\n"
    )
    done = shops("sources", "add", file, code=2)
    assert "line 6" in done.stderr
    assert "there is no function 'open'" in done.stderr
    file.write_text('name = "bad"\nurl = "https://api.example.com/x"\n[mapping]\ntitel = "name"\n')
    done = shops("sources", "check", file, code=2)
    assert "mapping.titel: there is no such field" in done.stderr
