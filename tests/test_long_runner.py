"""`make test-long` goes on after a failure, and says in the end what became of each file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_LONG = """
import pytest

@pytest.mark.long
def test_long():
    assert {}

def test_short():
    assert False
"""


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = long\naddopts = -q --strict-markers\n")
    # Plugins take seconds to load, and these tests need none.
    env = {**os.environ, "PYTHONPATH": str(_ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "tests.long"]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)


def test_a_failure_is_told_and_the_others_run(tmp_path: Path) -> None:
    for name, truth in (("first", False), ("second", True)):
        (tmp_path / f"test_{name}.py").write_text(_LONG.format(truth))
    (tmp_path / "test_third.py").write_text("def test_short(): pass\n")
    told = run(tmp_path)
    assert told.returncode == 1, told.stderr
    first, second, total = told.stdout.splitlines()[-3:]
    assert first.startswith("test_first.py ")
    assert first.endswith("FAILED: 1 failed")
    assert second.startswith("test_second.py ")
    assert second.endswith("  1 passed")
    assert total.startswith("1 files passed, 1 failed")
    assert "test_third" not in told.stdout
    (tmp_path / "test_first.py").unlink()
    assert run(tmp_path).returncode == 0


def test_what_cannot_be_collected_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "test_first.py").write_text("import nothing_of_this_name\n")
    told = run(tmp_path)
    assert told.returncode != 0
    assert "nothing_of_this_name" in told.stderr
