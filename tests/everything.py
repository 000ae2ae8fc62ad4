"""`make test`: all tests, and beside them style, import rules and types.

The output of pytest is shown as it comes, that of the other checks when they fail. Any failure
makes the exit code 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

_BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Check:
    name: str
    command: Sequence[str | Path]


@dataclass(frozen=True)
class Result:
    name: str
    passed: bool
    seconds: float

    def __str__(self) -> str:
        return f"== {self.name}: {'passed' if self.passed else 'FAILED'} in {self.seconds:.0f} s"


CHECKS = (
    Check("Style (ruff)", (_BIN / "ruff", "check", ".")),
    Check("Format (ruff)", (_BIN / "ruff", "format", "--check", ".")),
    Check("Import rules (import-linter)", (_BIN / "lint-imports", "--no-logo")),
    Check("Types (mypy)", (_BIN / "mypy",)),
)
# Many tests wait for processes or leases: more of them at once than there are cores.
_AT_ONCE = max(2, (os.cpu_count() or 1) * 3 // 2)
TESTS = Check(
    "Tests (pytest)",
    (_BIN / "pytest", "-n", str(_AT_ONCE), "--dist", "worksteal", "-m", "not long",
     "--junitxml=build/tests.xml"),
)  # fmt: skip


def run_check(check: Check) -> Result:
    """Quiet, unless it fails: then its output is shown at once, as one block."""
    began = time.monotonic()
    done = subprocess.run(
        check.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    result = Result(check.name, done.returncode == 0, time.monotonic() - began)
    if not result.passed:
        print(f"\n{result}\n{done.stdout.rstrip()}", flush=True)
    return result


def run_all(tests: Check, checks: Sequence[Check]) -> list[Result]:
    results: list[Result] = []

    def run_checks() -> None:
        results.extend(run_check(check) for check in checks)

    beside = Thread(target=run_checks)
    beside.start()
    began = time.monotonic()
    code = subprocess.run(tests.command).returncode
    beside.join()
    return [*results, Result(tests.name, code == 0, time.monotonic() - began)]


def main(arguments: Sequence[str]) -> int:
    tests = Check(TESTS.name, (*TESTS.command, *arguments))
    results = run_all(tests, CHECKS)
    print("\n".join(map(str, results)))
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
