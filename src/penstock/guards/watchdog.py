"""Detect a blocked event loop: log its stack first, then end the process.

A thread detects Python code that blocks the loop, and logs the stack. C code that holds the GIL
stops that thread too; a timer of `faulthandler` needs no interpreter and ends the process. Its
supervisor (`penstock up`, systemd, Kubernetes) restarts it.
"""

from __future__ import annotations

import asyncio
import faulthandler
import sys
import threading
import time
import traceback

from penstock.model.ports import Log

# Interval of the loop's beats, which is the precision of the measured lag.
BEAT_S = 0.25
WARN_S = 1.0
# Arming the timer starts a thread, so it is not done at every beat.
_ARM_EVERY_S = 1.0


class LoopWatchdog:
    """Watches the loop of the thread that starts it."""

    def __init__(self, log: Log, *, limit_s: float, warn_s: float = WARN_S) -> None:
        self._log = log
        self._limit_s = limit_s
        self._warn_s = warn_s
        self._turned = self._armed = 0.0
        self._ends_at: float | None = None
        self._next: asyncio.TimerHandle | None = None
        self._stopped = threading.Event()
        self._thread_id = 0
        self.worst_lag_s = 0.0

    def start(self) -> LoopWatchdog:
        self._thread_id = threading.get_ident()
        self._beat(asyncio.get_running_loop())
        threading.Thread(target=self._watch, name="loop-watchdog", daemon=True).start()
        return self

    def stop(self) -> None:
        self._stopped.set()
        if self._next is not None:
            self._next.cancel()
        faulthandler.cancel_dump_traceback_later()

    def end_within(self, seconds: float) -> None:
        """End the process after ``seconds``, even if the loop is blocked."""
        if self._ends_at is None:
            self._ends_at = time.monotonic() + seconds
            self._arm(time.monotonic())

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        now = time.monotonic()
        if self._turned:
            self.worst_lag_s = max(self.worst_lag_s, now - self._turned - BEAT_S)
        self._turned = now
        if now - self._armed >= _ARM_EVERY_S:
            self._arm(now)
        self._next = loop.call_later(BEAT_S, self._beat, loop)

    def _arm(self, now: float) -> None:
        self._armed = now
        limit_s = self._limit_s
        if self._ends_at is not None:
            limit_s = min(limit_s, self._ends_at - now)
        # Allow for the time between two armings.
        faulthandler.dump_traceback_later(
            max(limit_s, 0.001) + _ARM_EVERY_S, exit=True, file=sys.__stderr__ or sys.stderr
        )

    def _watch(self) -> None:
        told = False
        while not self._stopped.wait(BEAT_S):
            lag_s = time.monotonic() - self._turned - BEAT_S
            if lag_s < self._warn_s:
                told = False
            elif not told:
                told = True
                self._log.warning(
                    "the event loop is blocked", lagMs=round(lag_s * 1000), stack=self._stack()
                )

    def _stack(self) -> str:
        frame = sys._current_frames().get(self._thread_id)
        if frame is None:
            return ""
        return "".join(traceback.format_stack(frame)[-12:])
