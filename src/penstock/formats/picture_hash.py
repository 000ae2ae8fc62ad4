"""Perceptual hashes: pictures that look alike have hashes that differ in few bits.

The hash of a photo differs in a few bits from that of the same photo in another size or format, and
in about half of all bits from that of another photo. Two hashes of different kinds must both be
near, so that pictures that have little in them are not mistaken for each other.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from penstock.model.transfer import transferable

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

_HASH_SIDE, _HASH_BITS = 32, 8
# A hash with fewer bits set, or more, is that of an empty picture.
_LEAST_BITS = 8


@transferable
class PictureHashes(NamedTuple):
    """Each with 16 hexadecimal digits."""

    phash: str
    dhash: str


def hashes_of(grey: Picture) -> PictureHashes | None:
    """None for a picture with too little in it."""
    by_waves, by_steps = phash(grey), dhash(grey)
    return None if by_waves is None or by_steps is None else PictureHashes(by_waves, by_steps)


def flat(image: Picture) -> Picture:
    """In shades of grey, on white where it is transparent."""
    from PIL import Image

    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        white = Image.new("RGBA", rgba.size, "white")
        image = Image.alpha_composite(white, rgba)
    return image.convert("L")


def dhash(image: Picture) -> str | None:
    """Whether each of 8 × 8 fields is brighter than the one beside it."""
    small = image.resize((_HASH_BITS + 1, _HASH_BITS), reducing_gap=3.0)
    cells = small.tobytes()
    bits = [
        cells[row * (_HASH_BITS + 1) + column] > cells[row * (_HASH_BITS + 1) + column + 1]
        for row in range(_HASH_BITS)
        for column in range(_HASH_BITS)
    ]
    return _hex(bits)


def phash(image: Picture) -> str | None:
    """Whether each of the 8 × 8 lowest frequencies is above their median."""
    small = image.resize((_HASH_SIDE, _HASH_SIDE), reducing_gap=3.0).tobytes()
    if max(small) - min(small) < 16:
        return None
    waves = _waves()
    rows = [small[row * _HASH_SIDE : (row + 1) * _HASH_SIDE] for row in range(_HASH_SIDE)]
    across = [
        [sum(cell * wave for cell, wave in zip(row, one, strict=True)) for one in waves]
        for row in rows
    ]
    values = [
        sum(across[row][column] * one[row] for row in range(_HASH_SIDE))
        for one in waves
        for column in range(_HASH_BITS)
    ]
    # The first one is the mean brightness, which says nothing.
    middle = sorted(values[1:])[len(values) // 2 - 1]
    return _hex([False, *(value > middle for value in values[1:])])


@cache
def _waves() -> list[list[float]]:
    return [
        [math.cos(math.pi * (2 * at + 1) * wave / (2 * _HASH_SIDE)) for at in range(_HASH_SIDE)]
        for wave in range(_HASH_BITS)
    ]


def _hex(bits: list[bool]) -> str | None:
    if not _LEAST_BITS <= sum(bits) <= len(bits) - _LEAST_BITS:
        return None
    return f"{int(''.join('1' if bit else '0' for bit in bits), 2):016x}"
