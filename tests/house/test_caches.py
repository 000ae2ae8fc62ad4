"""What is cached by texts from files or requests must be bounded, or it grows as long as a process
lives."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any

import penstock

# Their arguments come from the code, not from users: names of word lists, platforms, SQL files.
_CLOSED = frozenset(
    (
        "penstock.api.openapi.reference._asset",
        "penstock.catalog.word_lists.load",
        "penstock.catalog.mapping.synonyms._platform_keys",
        "penstock.store.queries.load",
    )
)


def unbounded_caches() -> Iterator[str]:
    for found in pkgutil.walk_packages(penstock.__path__, "penstock."):
        if found.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(found.name)).items():
            if getattr(value, "__module__", None) == found.name and _is_unbounded(value):
                yield f"{found.name}.{name}"


def _is_unbounded(value: Any) -> bool:
    settings = getattr(value, "cache_parameters", None)
    if not callable(settings) or settings()["maxsize"] is not None:
        return False
    parameters = inspect.signature(value.__wrapped__).parameters.values()
    return any("str" in str(one.annotation) for one in parameters)


def test_caches_by_texts_are_bounded() -> None:
    assert set(unbounded_caches()) - _CLOSED == set()
