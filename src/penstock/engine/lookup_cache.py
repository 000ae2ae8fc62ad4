"""Recent lookups in the result cache, kept in memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.store.jobs.result_cache import Source

# Key of an entry: org, file, and the cache key of the configuration.
Key = tuple[int, str, str]
_MAX_ENTRIES = 64


@dataclass(slots=True)
class LookupCache:
    """A few recent lookups, each kept for some minutes."""

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
        while len(self._kept) > _MAX_ENTRIES:
            self._kept.popitem(last=False)

    def forget(self, key: Key) -> None:
        self._kept.pop(key, None)
