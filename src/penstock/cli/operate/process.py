"""What the long-running processes have in common."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable

from penstock.guards.watchdog import LoopWatchdog
from penstock.logs import configure_logging, get_logger
from penstock.settings import Settings
from penstock.supervisor.children import watch_parent

# For the last messages and closing connections, after the work has ended.
SECONDS_TO_CLOSE = 10.0


def begin_process(settings: Settings) -> None:
    """Let the process end with its parent, and log what libraries log like our own lines."""
    watch_parent()
    configure_logging(settings.log_level)
    logging.basicConfig(handlers=[_ToOurs()], level=logging.WARNING, force=True)


def run_behind(step: int = 5) -> None:
    """Lower the priority, so that requests are answered while all cores work on rows."""
    with contextlib.suppress(OSError):
        os.nice(step)


def watch_loop(settings: Settings) -> LoopWatchdog:
    """Log an event loop that is blocked, and end the process after the limit."""
    return LoopWatchdog(get_logger(), limit_s=settings.loop_limit_ms / 1000).start()


def on_stop(stop: Callable[[], None], most_seconds: float, watchdog: LoopWatchdog) -> None:
    """Call ``stop`` on every SIGTERM or SIGINT. The process ends ``most_seconds`` after the first
    signal, even if the database, a stage or the loop itself hangs."""
    loop = asyncio.get_running_loop()
    last_resort = threading.Timer(most_seconds, _leave, [most_seconds])
    last_resort.daemon = True

    def stop_in_time(number: int, frame: object) -> None:
        if not last_resort.is_alive():
            last_resort.start()
            watchdog.end_within(most_seconds)
        loop.call_soon_threadsafe(stop)

    # Not `loop.add_signal_handler`: its handlers need a running loop, and this one may be blocked.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop_in_time)


def _leave(seconds: float) -> None:
    get_logger().error("did not come to an end in time and leaves as it is", seconds=seconds)
    os._exit(1)


class _ToOurs(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        get_logger().log(
            record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info
        )
