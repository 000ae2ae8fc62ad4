"""Child processes that one test after the other uses, as a worker uses them for one job after the
other: each takes half a second of processor time to start and to import what it runs.

Only children that are idle and whole are kept when a pool closes. Tests of the pool itself, and
processes that tests start, have children of their own.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Hashable
from functools import cache
from pathlib import Path
from typing import Any

from penstock.guards.child_folders import ChildFolders
from penstock.guards.children import ChildPool, _Child

_MOST_KEPT = 4
# Where pytest has its temporary folders.
_TEMP_ROOT = "PYTEST_DEBUG_TEMPROOT"
_kept: defaultdict[Hashable, list[_Child]] = defaultdict(list)


class ReusedChildPool(ChildPool):
    """As `ChildPool`; takes children that an earlier pool of the same kind left."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # Not in the data folder of one test, which is removed with it.
        self._places = ChildFolders(_folder())

    def _start(self) -> _Child:
        for child in _taken(self._kind):
            child._wall_seconds = self._wall_seconds
            self._all.add(child)
            return child
        return super()._start()

    async def close(self) -> None:
        for child in [one for one in self._idle if not one.is_importing and not one.busy]:
            if child.process.poll() is None and len(_kept[self._kind]) < _MOST_KEPT:
                self._idle.remove(child)
                self._all.discard(child)
                child.uses, child.owner, child.importing = 0, None, None
                _kept[self._kind].append(child)
        await super().close()

    @property
    def _kind(self) -> Hashable:
        """What a child was started with, but for its folders."""
        told = {name: text for name, text in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
        return (
            self._memory_bytes, self._cpu_seconds, tuple(sys.path),
            tuple(sorted((name, text) for name, text in told.items() if "PENSTOCK" not in name)),
        )  # fmt: skip


def _taken(kind: Hashable) -> list[_Child]:
    """The child that was kept last, if one is left and lives."""
    while _kept[kind]:
        child = _kept[kind].pop()
        if child.process.poll() is None:
            return [child]
        child.end()
    return []


@cache
def _folder() -> Path:
    """On the disk of `tmp_path`, so that files are linked and not copied."""
    folder = Path(tempfile.mkdtemp("", "penstock-children-", os.environ.get(_TEMP_ROOT)))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
