"""Settings with the options of the command line, which override the environment."""

from __future__ import annotations

from typing import Any

from penstock.settings import Settings


def chosen(**flags: Any) -> Settings:
    return Settings(**{name: value for name, value in flags.items() if value is not None})
