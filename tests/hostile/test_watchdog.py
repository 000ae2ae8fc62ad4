"""A process whose event loop stands still says where, ends by itself and can be told to stop."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

_BLOCKED_BY = {
    # Other threads run meanwhile.
    "sleep": "time.sleep(60)",
    "python": "while True: pass",
    # Keeps the interpreter to itself: no thread of ours runs until it ends, which takes years.
    "regex": "re.match('(a+)+$', 'a' * 60 + '!')",
}
_PROGRAM = """
import asyncio, re, sys, time
from penstock.cli.operate.process import on_stop
from penstock.guards.watchdog import LoopWatchdog
from penstock.logs import configure_logging, get_logger

async def main():
    configure_logging("info")
    watchdog = LoopWatchdog(get_logger(), limit_s={limit}, warn_s=0.3).start()
    on_stop(lambda: None, {stop}, watchdog)
    await asyncio.sleep(0.6)
    print("blocked", flush=True)
    def hold_the_loop():
        {work}
    hold_the_loop()

asyncio.run(main())
"""


def started(work: str, limit: float, stop: float = 60) -> subprocess.Popen[str]:
    program = _PROGRAM.format(work=_BLOCKED_BY[work], limit=limit, stop=stop)
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "blocked\n"
    return process


@pytest.mark.parametrize("work", _BLOCKED_BY)
def test_a_blocked_loop_ends_its_process_and_shows_the_stack(work: str) -> None:
    process = started(work, limit=1.0)
    began = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert time.monotonic() - began < 15
    assert "hold_the_loop" in err
    if work != "regex":
        assert "the event loop is blocked" in out + err


@pytest.mark.parametrize("work", _BLOCKED_BY)
def test_a_blocked_process_can_still_be_terminated(work: str) -> None:
    process = started(work, limit=60.0, stop=0.5)
    process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    process.communicate(timeout=60)
    assert process.returncode == 1
    assert time.monotonic() - began < 15
