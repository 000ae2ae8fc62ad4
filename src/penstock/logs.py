"""Structured logs on stderr: one line per event, never a secret."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog


def configure_logging(level: str, *, json: bool | None = None) -> None:
    """Human-readable on a terminal, JSON otherwise."""
    as_json = not sys.stderr.isatty() if json is None else json
    renderer: Any = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        # A line and its end in one write: several processes share the file.
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
    )


def get_logger(**values: Any) -> Any:
    return structlog.get_logger(**values)
