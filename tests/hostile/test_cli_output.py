"""What commands print arrives completely, or the command fails."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from tests.cli.conftest import environment

ROWS = 400
# Interrupts the blocked write again and again, as SIGCHLD of a child process does.
INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
from penstock.cli import app, main
app.command("numbers")(lambda: print(" ".join(map(str, range(100_000)))))
sys.argv = ["penstock", "numbers"]
try:
    main()
finally:
    signal.setitimer(signal.ITIMER_REAL, 0)
"""
NUMBERS = " ".join(map(str, range(100_000))) + "\n"


@pytest.fixture
def environments(tmp_path: Path) -> list[dict[str, str]]:
    plain = environment(tmp_path / "data")
    plain.pop("PYTHONUNBUFFERED", None)
    return [plain, plain | {"PYTHONUNBUFFERED": "1"}]


def _piped(
    code: str, env: dict[str, str], *, blocking: bool
) -> tuple[subprocess.Popen[bytes], int]:
    read, write = os.pipe()
    os.set_blocking(write, blocking)
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, env=env
    )
    os.close(write)
    return process, read


def _until_full(read: int, process: subprocess.Popen[bytes]) -> None:
    """Until the pipe holds all that it can, and the writer has waited for some time."""
    held = bytearray(4)
    until = time.monotonic() + 30
    while int.from_bytes(held, sys.byteorder) < 65_536 and process.poll() is None:
        assert time.monotonic() < until
        fcntl.ioctl(read, termios.FIONREAD, held)
        time.sleep(0.02)
    # Not a wait for anything: the time in which signals interrupt the blocked write.
    time.sleep(0.3)


@pytest.mark.parametrize("blocking", [True, False])
def test_a_slow_reader_gets_all_of_it(environments: list[dict[str, str]], blocking: bool) -> None:
    for env in environments:
        process, read = _piped(INTERRUPTED, env, blocking=blocking)
        _until_full(read, process)
        with open(read, "rb") as file:
            got = file.read().decode()
        assert process.wait(30) == 0
        assert len(got) == len(NUMBERS)
        assert got == NUMBERS


def test_a_reader_that_closes_early_makes_the_command_fail(
    environments: list[dict[str, str]],
) -> None:
    for env in environments:
        process, read = _piped(INTERRUPTED, env, blocking=True)
        _until_full(read, process)
        os.close(read)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 1
        assert b"Traceback" not in err


def test_a_short_output_that_finds_the_pipe_closed_fails_too(
    environments: list[dict[str, str]],
) -> None:
    code = INTERRUPTED.replace("100_000", "3")
    for env in environments:
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, env=env
        )
        os.close(write)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 1
        assert b"Exception ignored" not in err


def test_a_full_disk_makes_the_command_fail(environments: list[dict[str, str]]) -> None:
    for env in environments:
        with open("/dev/full", "wb") as full:
            done = subprocess.run(
                [sys.executable, "-c", INTERRUPTED], stdout=full, stderr=subprocess.PIPE, env=env,
                check=False,
            )  # fmt: skip
        assert done.returncode == 1
        assert b"could not be written completely" in done.stderr


def test_a_preview_is_whole_for_a_slow_reader(tmp_path: Path) -> None:
    goods = tmp_path / "goods.csv"
    rows = "".join(f"A-{n},Product number {n} with a long name,{n}.50\n" for n in range(ROWS))
    goods.write_text(f"sku,title,price\n{rows}")
    env = environment(tmp_path / "data") | {"PYTHONUNBUFFERED": "1"}
    code = f"""
import sys
from penstock.cli import main
sys.argv = ["penstock", "preview", "--json", {str(goods)!r}]
main()
"""
    process, read = _piped(code, env, blocking=True)
    _until_full(read, process)
    with open(read, "rb") as file:
        got = file.read()
    assert process.wait(60) == 0
    assert len(json.loads(got)["rows"]) == 200
