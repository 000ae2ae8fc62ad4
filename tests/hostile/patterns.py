"""Every pattern of the package, and how it is used."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import penstock
from penstock.catalog.mapping.price_context import MAX_AMOUNT_LENGTH

METHODS = {"match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"}
# Patterns in a container, which are called by another name.
KNOWN_USES = {
    ("penstock.formats.detection.content_type", "_REFUSED_TEXTS"): {"match"},
    ("penstock.formats.records.blocks", "_LINE"): {"fullmatch"},
}
# The most characters that are given to a pattern which cannot be made linear.
CAPS = {"penstock.catalog.mapping.price_context._AMOUNT_BEFORE": MAX_AMOUNT_LENGTH}
_SOURCE = Path(penstock.__file__).parent


@dataclass
class Found:
    """A pattern, where it is, and the methods it is used with (all, where that is unknown)."""

    pattern: re.Pattern[Any]
    places: list[str] = field(default_factory=list)
    methods: set[str] = field(default_factory=set)

    @property
    def cap(self) -> int | None:
        caps = [CAPS.get(place) for place in self.places]
        return max((cap for cap in caps if cap is not None), default=None) if all(caps) else None


@cache
def all_patterns() -> tuple[Found, ...]:
    found: dict[tuple[Any, int], Found] = {}
    uses = _uses_by_name()
    for name in _module_names():
        module = importlib.import_module(name)
        seen: set[int] = set()
        for variable, value in list(vars(module).items()):
            for pattern, bare in _patterns_in(value, seen):
                one = found.setdefault((pattern.pattern, pattern.flags), Found(pattern))
                one.places.append(f"{name}.{variable}")
                known = uses.get((name, variable)) if bare else KNOWN_USES.get((name, variable))
                one.methods |= known or METHODS
        for pattern, method, line in _patterns_in_code(module):
            one = found.setdefault((pattern.pattern, pattern.flags), Found(pattern))
            one.places.append(f"{name}:{line}")
            one.methods |= {method} if method in METHODS else METHODS
    return tuple(found.values())


def _module_names() -> list[str]:
    found = pkgutil.walk_packages(penstock.__path__, "penstock.")
    return [module.name for module in found if not module.name.endswith("__main__")]


def _patterns_in(value: Any, seen: set[int], depth: int = 0) -> list[tuple[re.Pattern[Any], bool]]:
    """With whether the value is the pattern itself, and not something that holds it."""
    if isinstance(value, re.Pattern):
        return [(value, depth == 0)]
    if depth > 5 or id(value) in seen:
        return []
    seen.add(id(value))
    inner: list[Any] = []
    if isinstance(value, dict):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inner = list(value)
    elif _is_ours(value) and hasattr(value, "__dict__"):
        inner = list(vars(value).values())
    return [found for one in inner for found in _patterns_in(one, seen, depth + 1)]


def _is_ours(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith("penstock")


def _uses_by_name() -> dict[tuple[str, str], set[str]]:
    """By module and variable: the methods called on it there and where it is imported. A variable
    that is also used otherwise, such as in a list, may be called with any of them."""
    uses: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for path in _SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        module = ".".join(("penstock", *path.relative_to(_SOURCE).with_suffix("").parts))
        module = module.removesuffix(".__init__")
        homes = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        called = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                called.add(id(node.value))
                if node.attr in METHODS:
                    name = node.value.id
                    uses[homes.get(name, (module, name))].add(node.attr)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Name) or id(node) in called:
                continue
            if isinstance(node.ctx, ast.Load):
                uses[homes.get(node.id, (module, node.id))] |= METHODS
    return uses


def _patterns_in_code(module: ModuleType) -> list[tuple[re.Pattern[Any], str, int]]:
    """Literals given to `re` inside of functions; what is put into one is taken from the module, or
    replaced by a letter."""
    path = module.__file__
    if path is None:
        return []
    made = []
    tree = ast.parse(Path(path).read_text("utf-8"))
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.Lambda)]
    for node in [inner for function in functions for inner in ast.walk(function)]:
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        owner = node.func.value
        if not (isinstance(owner, ast.Name) and owner.id == "re"):
            continue
        text = _text_of(node.args[0], vars(module))
        if text is not None and node.func.attr in {*METHODS, "compile"}:
            made.append((re.compile(text), node.func.attr, node.lineno))
    return made


def _text_of(node: ast.expr, names: dict[str, Any]) -> str | bytes | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [
            _text_of(part.value, names)
            if isinstance(part, ast.FormattedValue)
            else _text_of(part, names)
            for part in node.values
        ]
        return "".join(part if isinstance(part, str) else "x" for part in parts)
    if isinstance(node, ast.Name) and isinstance(names.get(node.id), str):
        return str(names[node.id])
    return None
