"""What this process looked up lately."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.store.jobs.result_cache import Source

# Name of an entry: org, file, and what decides the results besides it.
Key = tuple[int, str, str]
_MOST_REMEMBERED = 64


@dataclass(slots=True)
class LookupCache:
    """The last lookups of this process, for some minutes and never more than a few."""

    seconds: float = 300.0
    clock: Callable[[], float] = time.monotonic
    _kept: OrderedDict[Key, tuple[float, Source]] = field(default_factory=OrderedDict)

    def get(self, key: Key) -> Source | None:
        at, source = self._kept.get(key, (float("-inf"), None))
        if source is None or self.clock() - at > self.seconds:
            self.forget(key)
            return None
        return source

    def put(self, key: Key, source: Source) -> None:
        self._kept[key] = (self.clock(), source)
        self._kept.move_to_end(key)
        while len(self._kept) > _MOST_REMEMBERED:
            self._kept.popitem(last=False)

    def forget(self, key: Key) -> None:
        self._kept.pop(key, None)
