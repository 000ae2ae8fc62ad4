"""`make test`: all tests, and beside them style, import rules and types.

The output of pytest is shown as it comes, that of the other checks when they fail. Any failure
makes the exit code 1. If only a few tests fail, these are run once more, alone: on a machine that
is shared, some that kill processes and wait for leases miss their time. Those that then pass are
named as unsteady, to be mended.
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
from xml.etree import ElementTree

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
_AT_ONCE = 2 * (os.cpu_count() or 1)
_REPORT = Path("build/tests.xml")
TESTS = Check(
    "Tests (pytest)",
    (_BIN / "pytest", "-n", str(_AT_ONCE), "--dist", "worksteal", "-m", "not long",
     f"--junitxml={_REPORT}"),
)  # fmt: skip
AGAIN = Check(
    "Tests that failed, once more",
    (_BIN / "pytest", "-m", "not long", "--last-failed", "--last-failed-no-failures", "none"),
)
# More than these are not misses: something is broken.
_MOST_AGAIN = 5


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


def failed_tests(report: Path) -> list[str]:
    cases = ElementTree.parse(report).iter("testcase")
    return [
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]


def run_again(first: Result, again: Check, failed: Sequence[str]) -> Result:
    """The tests that failed, alone: the answer replaces that of the first run."""
    print(f"\n== {len(failed)} failed; once more, alone", flush=True)
    began = time.monotonic()
    passed = subprocess.run(again.command).returncode == 0
    if passed:
        print("== Unsteady (failed beside the others, passed alone):", *failed, sep="\n   ")
    return Result(first.name, passed, first.seconds + time.monotonic() - began)


def main(arguments: Sequence[str]) -> int:
    _REPORT.unlink(missing_ok=True)
    tests = Check(TESTS.name, (*TESTS.command, *arguments))
    *results, tested = run_all(tests, CHECKS)
    if not tested.passed and _REPORT.exists():
        failed = failed_tests(_REPORT)
        if 0 < len(failed) <= _MOST_AGAIN:
            tested = run_again(tested, AGAIN, failed)
    results.append(tested)
    print("\n".join(map(str, results)))
    return 0 if all(result.passed for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
