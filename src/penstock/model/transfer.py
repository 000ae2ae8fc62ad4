"""Data classes whose values may come back from a child process.

A child parses untrusted data and may be compromised, so its answers are treated as data only.
Objects are built from their fields here; no code named by the child is run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

Class = TypeVar("Class", bound=type)


class Transferable(NamedTuple):
    name: str
    fields: tuple[str, ...]
    build: Callable[[Sequence[Any]], Any]


BY_NAME: dict[str, Transferable] = {}
BY_CLASS: dict[type, Transferable] = {}


def transferable(cls: Class) -> Class:
    """Decorator for a dataclass or NamedTuple whose constructor has no side effects."""
    if dataclasses.is_dataclass(cls):
        names = tuple(one.name for one in dataclasses.fields(cls))

        def build(values: Sequence[Any]) -> Any:
            return cls(**dict(zip(names, values, strict=True)))

        return register(cls, names, build)
    names = cls._fields  # type: ignore[attr-defined]
    return register(cls, names, cls._make)  # type: ignore[attr-defined]


def register(cls: Class, fields: tuple[str, ...], build: Callable[[Sequence[Any]], Any]) -> Class:
    known = BY_NAME.get(cls.__name__)
    if known is not None and known != BY_CLASS.get(cls):
        raise TypeError(f"another class {cls.__name__} is transferable already")
    BY_NAME[cls.__name__] = BY_CLASS[cls] = Transferable(cls.__name__, fields, build)
    return cls
