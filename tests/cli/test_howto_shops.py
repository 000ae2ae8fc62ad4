"""The how-to of shops, command by command, against a running sandbox."""

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
PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "import-a-shop.md"


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
    assert "It works: Sandbox demo, 7 products, prices in EUR." in done.stdout
    assert "shopify:127.0.0.1" in done.stdout
    assert "7 of its products stay." in done.stdout
