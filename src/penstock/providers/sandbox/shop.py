"""What the three shops have in common: their products, changes to them, and their limits."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from penstock.providers.sandbox.catalog import Catalog, MadeProduct, changed
from penstock.providers.sandbox.http import Request, Response
from penstock.providers.sandbox.limits import Bucket


@dataclass(slots=True)
class Shop:
    """One shop of one provider. ``base`` is its address."""

    provider: str
    name: str
    base: str
    server: str
    catalog: Catalog
    buckets: dict[str, Bucket] = field(default_factory=dict)
    changed_at: dict[int, datetime] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    # Running and ended operations, codes of installs and the like.
    state: dict[str, Any] = field(default_factory=dict)

    def product(self, number: int) -> MadeProduct | None:
        if not 1 <= number <= self.catalog.size or number in self.deleted:
            return None
        made = self.catalog.product(number)
        at = self.changed_at.get(number)
        return changed(made, at) if at else made

    def products(self, after: int = 0) -> Iterator[MadeProduct]:
        """In the order of their numbers."""
        for number in range(after + 1, self.catalog.size + 1):
            found = self.product(number)
            if found is not None:
                yield found

    def matching(self, text: str, since: datetime | None) -> list[MadeProduct]:
        words = text.casefold().split()
        return [
            one
            for one in self.products()
            if (since is None or one.updated_at >= since)
            and all(word in one.title.casefold() for word in words)
        ]

    def count(self) -> int:
        gone = sum(1 for one in self.deleted if one <= self.catalog.size)
        return self.catalog.size - gone

    def picture_url(self, name: str) -> str:
        return f"{self.server}/pictures/{name}"

    def secret(self, kind: str, length: int) -> str:
        """A secret that follows from the seed."""
        key = f"{self.catalog.seed}:{self.provider}:{self.name}:{kind}".encode()
        return hmac.digest(b"sandbox", key, hashlib.sha256).hex()[:length]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a shop answers. ``violation``: the call was beyond its limit. ``refused``: the
    credentials were wrong. ``poll``: asking again is expected."""

    response: Response
    violation: bool = False
    refused: bool = False
    poll: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A call to a shop. ``path`` is what follows the shop's address."""

    shop: Shop
    path: str
    request: Request
