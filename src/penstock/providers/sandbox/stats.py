"""What was asked, and what should not have been."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from penstock.providers.sandbox.http import Request

_MAX_KEYS = 2_000_000


@dataclass(slots=True)
class Counts:
    """``violations``: calls beyond the rate limit. ``repeated``: calls that were answered in full
    before. ``refused``: calls with wrong credentials."""

    calls: int = 0
    answered: int = 0
    violations: int = 0
    repeated: int = 0
    refused: int = 0
    faults: int = 0

    def as_json(self) -> dict[str, int]:
        return {
            "calls": self.calls, "answered": self.answered, "violations": self.violations,
            "repeated": self.repeated, "refused": self.refused, "faults": self.faults,
        }  # fmt: skip


@dataclass(slots=True)
class Stats:
    total: Counts = field(default_factory=Counts)
    providers: dict[str, Counts] = field(default_factory=dict)
    shops: dict[str, Counts] = field(default_factory=dict)
    faults: Counter[str] = field(default_factory=Counter)
    _answered: set[bytes] = field(default_factory=set)

    def of(self, provider: str, shop: str) -> tuple[Counts, Counts, Counts]:
        return (
            self.total,
            self.providers.setdefault(provider, Counts()),
            self.shops.setdefault(f"{provider}/{shop}", Counts()),
        )

    def note(self, provider: str, shop: str, **more: int) -> None:
        for counts in self.of(provider, shop):
            for name, value in more.items():
                setattr(counts, name, getattr(counts, name) + value)

    def note_answered(self, provider: str, shop: str, request: Request, *, poll: bool) -> None:
        """A call that was answered in full. Polls are expected to be repeated."""
        key = call_key(provider, shop, request)
        repeated = not poll and key in self._answered
        if len(self._answered) < _MAX_KEYS:
            self._answered.add(key)
        self.note(provider, shop, answered=1, repeated=int(repeated))

    def as_json(self) -> dict[str, Any]:
        return {
            **self.total.as_json(),
            "faultKinds": dict(self.faults),
            "providers": {name: one.as_json() for name, one in self.providers.items()},
            "shops": {name: one.as_json() for name, one in self.shops.items()},
        }


def call_key(provider: str, shop: str, request: Request) -> bytes:
    """What makes two calls the same. Signatures differ each time, so they do not count."""
    query = sorted(pair for pair in request.query.items() if not pair[0].startswith("oauth_"))
    place = request.headers.get("range", "")
    text = f"{provider} {shop} {request.method} {request.path} {query} {place}"
    return hashlib.sha256(text.encode() + request.body).digest()[:12]
