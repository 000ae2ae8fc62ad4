"""Folders of child processes: one each, removed with the process.

in/   files it was given, as hard links (or copies, on another disk); read only
tmp/  its temporary files
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from pathlib import Path

_PREFIX = "child-"


class ChildFolders:
    def __init__(self, parent: Path | None) -> None:
        self._parent = parent
        self._swept = False

    def make(self) -> ChildFolder:
        parent = self._parent
        if parent is not None:
            parent.mkdir(parents=True, exist_ok=True)
            if not self._swept:
                self._swept = True
                _remove_of_dead_processes(parent)
        path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=parent)).resolve()
        for name in ("in", "tmp"):
            (path / name).mkdir()
        return ChildFolder(path)


class ChildFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    async def take_in(self, file: str) -> str:
        """The path of the file for the child. The child reports a missing file."""
        given = self.path / "in" / Path(file).name
        try:
            given.unlink(missing_ok=True)
            os.link(os.path.realpath(file), given)
        except FileNotFoundError:
            pass
        except OSError:
            await asyncio.to_thread(shutil.copyfile, file, given)
        return str(given)

    def clear(self) -> None:
        """Remove all files between two calls."""
        for name in ("in", "tmp"):
            for entry in os.scandir(self.path / name):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def _remove_of_dead_processes(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*-*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdecimal() and not Path("/proc", pid).exists():
            shutil.rmtree(folder, ignore_errors=True)
