"""Data classes whose values may come back from a child process.

A child works on foreign bytes and may be taken over by them: what it answers is data and nothing
else. A class is built from its fields here; no code that the child names is run.
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
    """Decorator of a dataclass or NamedTuple without behaviour when it is made."""
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
