"""Structured logs on stderr: one line per event, never a secret."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

from penstock.model.text.redaction import redacted_values

_RENDERED = (str, int, float, bool, type(None), Mapping, list, tuple)


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
            _without_secrets,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        # A line and its end in one write: several processes share the file.
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
    )


def _without_secrets(_: Any, __: str, line: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """The last to see a line before it is written."""
    plain = {name: _plain(value) for name, value in line.items()}
    shown: Mapping[str, Any] = redacted_values(plain)
    return shown


def _plain(value: Any) -> Any:
    """What a renderer would turn into text by itself is text already, and can be looked at."""
    return value if isinstance(value, _RENDERED) else repr(value)


def get_logger(**values: Any) -> Any:
    return structlog.get_logger(**values)
