"""What the long-running processes have in common."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable

from penstock.logs import configure_logging, get_logger
from penstock.settings import Settings
from penstock.supervisor.children import watch_parent


def begin_process(settings: Settings) -> None:
    """Ends with its parent; what libraries log goes the same way as our own."""
    watch_parent()
    configure_logging(settings.log_level)
    logging.basicConfig(handlers=[_ToOurs()], level=logging.WARNING, force=True)


def on_stop(stop: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


class _ToOurs(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        get_logger().log(
            record.levelno, record.getMessage(), logger=record.name, exc_info=record.exc_info
        )
