"""The how-to of lookups, command by command."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli, environment

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "look-up.md"


@pytest.mark.slow
def test_the_commands_of_the_page_work(cli: Cli, tmp_path: Path) -> None:
    blocks = re.findall(r"```bash\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2
    prelude = f'set -eu\npenstock() {{ "{sys.executable}" -m penstock "$@"; }}\n'
    worker = cli.start("worker", PENSTOCK_LOG_LEVEL="error")
    try:
        done = subprocess.run(
            ["bash", "-c", prelude + "\n".join(blocks)],
            env=environment(cli.data_dir), cwd=tmp_path, text=True,
            capture_output=True, timeout=240, check=False,
        )  # fmt: skip
    finally:
        worker.terminate()
        worker.communicate(timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ",Round-nose pliers, 160 mm" not in done.stdout
    assert "2 of 3 found" in done.stderr
    assert "found,1.0,gtin" in done.stdout
    assert "Chrome vanadium steel" in done.stdout
    assert "accepted 1" in done.stdout
