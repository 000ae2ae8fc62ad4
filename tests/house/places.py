"""Where the code, the documents and the user interface are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Built or written by tools; their contents are not ours to keep tidy.
_GENERATED = ("web/dist/", "__pycache__/", "node_modules/")


def files(root: Path, *patterns: str) -> Iterator[Path]:
    """Files that match, in order, without what tools have made."""
    for path in sorted({path for pattern in patterns for path in root.glob(pattern)}):
        if path.is_file() and not any(one in path.as_posix() for one in _GENERATED):
            yield path


def source(root: Path = ROOT) -> Path:
    return root / "src" / "penstock"


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file, which several rules look at."""
    return _parsed(path.read_text("utf-8"))


@lru_cache(maxsize=4096)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()
