"""Open server-side files that a caller names: only below the allowed folders, and never through a
symbolic link, even one that is created meanwhile."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import PurePosixPath

from penstock.model.errors import BadInput, NotThere

_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_under(roots: Sequence[str], path: str) -> int:
    """A descriptor of the regular file; ``path`` is absolute or relative to one of ``roots``."""
    if not roots:
        raise _refusal(
            "This server accepts no files by path (PENSTOCK_IMPORT_ROOTS names no folder)"
        )
    wanted = PurePosixPath(path)
    if "\0" in path or ".." in wanted.parts or not wanted.name:
        raise _refusal("A path must name a file and must not contain `..`")
    for root in roots:
        if not wanted.is_absolute():
            steps = wanted.parts
        elif wanted.is_relative_to(root):
            steps = wanted.relative_to(root).parts
        else:
            continue
        try:
            return _walk(root, steps)
        except FileNotFoundError:
            continue
        except OSError as error:
            # A symbolic link in the path, or a file without read permission.
            raise _refusal(f"{path} is a link, or cannot be read: {error.strerror}") from error
    if wanted.is_absolute() and not any(wanted.is_relative_to(root) for root in roots):
        raise _refusal(f"{path} is outside the folders that you may use")
    raise NotThere("FILE_NOT_FOUND", f"There is no file {path} on the server.")


def _walk(root: str, steps: Sequence[str]) -> int:
    """Open each folder by the descriptor of its parent, so that none can be replaced meanwhile."""
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in steps[:-1]:
            inner = os.open(step, _PLAIN | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = inner
        # Opening a pipe would block.
        number = os.open(steps[-1], _PLAIN | os.O_NONBLOCK, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise _refusal("The path is not a regular file")
    return number


def _refusal(why: str) -> BadInput:
    return BadInput(
        "PATH_NOT_ALLOWED", f"{why}. Upload the file instead, or ask the administrator."
    )
