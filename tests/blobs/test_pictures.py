"""Kept pictures: there for a while, and never more than fit."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from penstock.blobs.pictures import LocalPictures

NAME = "ab" + "0" * 62


async def test_what_was_put_is_there_until_it_is_old(tmp_path: Path) -> None:
    pictures = LocalPictures(tmp_path / "pictures")
    assert await pictures.get(f"{NAME}.small") is None
    await pictures.put(f"{NAME}.small", b"one")
    assert await pictures.get(f"{NAME}.small") == b"one"
    assert await pictures.get(f"{NAME}.large") is None
    (path,) = tmp_path.rglob("*.small")
    os.utime(path, (0, time.time() - 31 * 24 * 3600))
    assert await pictures.get(f"{NAME}.small") is None


async def test_the_oldest_make_room(tmp_path: Path) -> None:
    pictures = LocalPictures(tmp_path, most_bytes_in_folder=100)
    names = [f"ab{n:062x}.large" for n in range(5)]
    for age, name in enumerate(names):
        await pictures.put(name, b"x" * 40)
        os.utime(tmp_path / "ab" / name, (0, time.time() - 1000 + age))
    there = [name for name in names if await pictures.get(name) is not None]
    assert there == names[-2:]


@pytest.mark.parametrize("name", ["", "../../etc/passwd", f"{NAME}/x", f"{NAME}.", NAME])
async def test_a_name_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="names no picture"):
        await LocalPictures(tmp_path).get(name)
