"""API versions are dates. A client may pin one; a breaking change gets a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Any

from pydantic.alias_generators import to_camel

from penstock.model.errors import BadInput

HEADER = "Penstock-Version"
# The first is the default, without the header.
VERSIONS = ("2026-11-01",)
CURRENT = VERSIONS[0]


def version_of(given: str | None) -> str:
    """The version in which a request is answered."""
    if given is None:
        return CURRENT
    if given not in VERSIONS:
        raise BadInput(
            "UNSUPPORTED_VERSION",
            f"There is no version {given[:40]!r} of the API. Send {HEADER}: {CURRENT}, or leave the"
            " header out for the current one.",
            supported=list(VERSIONS),
        )
    return given


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A deprecated call: since when, when it will be removed, and its replacement."""

    since: date
    sunset: date
    instead: str

    def headers(self) -> dict[str, str]:
        """The headers of RFC 9745 and RFC 8594."""
        return {
            "Deprecation": f"@{_midnight(self.since).timestamp():.0f}",
            "Sunset": format_datetime(_midnight(self.sunset), usegmt=True),
            "Link": f'<{self.instead}>; rel="successor-version"',
        }


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def operation_id(route: Any) -> str:
    """The id of a route in the OpenAPI document: the name of its function."""
    return to_camel(route.name)


# By operation id, as the document has it: "pauseJob".
Deprecations = Mapping[str, Deprecation]
DEPRECATED: Deprecations = {}
