"""Pictures from anywhere, made small and plain: what goes in is believed only as far as it decodes.

Made for a child process: a decoder is a parser of foreign bytes like any other.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.model.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MEDIA_TYPE = "image/webp"
# Rasters that browsers know. An SVG is a program, and is none of them.
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "AVIF")
# Decoded they take four bytes each; a file of some kilobytes can claim billions of them.
MAX_PIXELS = 40_000_000
# Cameras and programs write about ten; each scan of a progressive JPEG decodes all of its pixels.
MAX_SCANS = 100
_QUALITY = 82
_SCAN, _END, _STANDALONE = 0xDA, 0xD9, {0x01, *range(0xD0, 0xD9)}
# Behind a scan's header: what is neither a stuffed byte nor a restart marker is the next marker.
_NEXT_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


def shrink(content: bytes, boxes: Sequence[int]) -> list[bytes]:
    """The picture as WebP, once for each box it shall fit into, upright and without its metadata;
    of an animation the first frame. A smaller picture is not enlarged."""
    # Whoever only names this function need not load a decoder.
    from PIL import Image, ImageOps

    if count_scans(content) > MAX_SCANS:
        raise _unreadable(f"has more than {MAX_SCANS} scans")
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(io.BytesIO(content), formats=_FORMATS) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise _unreadable(f"has more than {MAX_PIXELS:,} pixels")
                image.draft("RGB", (2 * max(boxes), 2 * max(boxes)))
                upright = ImageOps.exif_transpose(image)
                plain = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
                return [_fitting(plain, box) for box in boxes]
        except (BadInput, MemoryError):
            raise
        except Exception as error:
            # Decoders of broken files raise whatever they stumble over.
            raise _unreadable(
                "is no picture that can be shown: not a JPEG, PNG, WebP, GIF or AVIF, or a broken"
                " one"
            ) from error


def count_scans(content: bytes) -> int:
    """Scans of a JPEG, counted without decoding; 0 for other formats. Stops beyond the bound."""
    if not content.startswith(b"\xff\xd8"):
        return 0
    scans, at = 0, 2
    while scans <= MAX_SCANS:
        found = _NEXT_MARKER.search(content, at)
        if found is None:
            break
        kind, at = content[found.end() - 1], found.end()
        if kind == _END:
            break
        if kind not in _STANDALONE:
            # The segment's length includes the two bytes that state it.
            at += max(2, int.from_bytes(content[at : at + 2], "big"))
        scans += kind == _SCAN
    return scans


def _fitting(image: Picture, box: int) -> bytes:
    small, made = image.copy(), io.BytesIO()
    small.thumbnail((box, box), reducing_gap=2.0)
    small.save(made, "WEBP", quality=_QUALITY)
    return made.getvalue()


def _unreadable(why: str) -> BadInput:
    return BadInput("PICTURE_UNREADABLE", f"What lies at the picture's address {why}.")
