"""Turn untrusted pictures into thumbnails.

Runs in a child process, since decoders parse untrusted data.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.formats.picture_hash import PictureHashes, flat, hashes_of
from penstock.model.errors import BadInput

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MEDIA_TYPE = "image/webp"
# Raster formats of browsers. SVG is excluded, since it can contain programs.
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "AVIF")
# Decoded, a pixel takes four bytes; a small file can claim billions of them.
MAX_PIXELS = 40_000_000
# Cameras and programs write about ten; each scan of a progressive JPEG decodes all of its pixels.
MAX_SCANS = 100
# A file with more bytes is not read.
PICTURE_BYTES = 20 * 1024 * 1024
_QUALITY = 82
# How hard the encoder tries, from 0 to 6: 4 takes twice as long as 2, for files a tenth smaller.
_EFFORT, _EFFORT_FOR_MANY = 4, 2
_SCAN, _END, _STANDALONE = 0xDA, 0xD9, {0x01, *range(0xD0, 0xD9)}
# After a scan's header: the next marker that is neither a stuffed byte nor a restart marker.
_NEXT_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


def shrink_file(
    path: str, boxes: Sequence[int]
) -> tuple[int, int, list[bytes], PictureHashes | None]:
    """Width and height of the picture in a file, thumbnails as `shrink` makes them, and the hashes
    by which a photo of the same thing is found."""
    with open(path, "rb") as file:
        return shrunk(file.read(), boxes, _EFFORT_FOR_MANY)


def shrink(content: bytes, boxes: Sequence[int]) -> list[bytes]:
    """The picture as WebP, once for each box, rotated upright and without metadata; the first frame
    of an animation. A smaller picture is not enlarged."""
    return shrunk(content, boxes)[2]


def shrunk(
    content: bytes, boxes: Sequence[int], effort: int = _EFFORT
) -> tuple[int, int, list[bytes], PictureHashes | None]:
    side = 2 * max(boxes)
    try:
        with opened_picture(io.BytesIO(content), content, side) as (upright, width, height):
            plain = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
            return width, height, _all_fitting(plain, boxes, effort), hashes_of(flat(plain))
    except BadInput as error:
        raise BadInput(
            "PICTURE_UNREADABLE", f"The file at the picture's URL {error.message}."
        ) from error


@contextmanager
def opened_picture(
    file: io.BytesIO, content: bytes, side: int
) -> Iterator[tuple[Picture, int, int]]:
    """The picture, upright, with its whole width and height. A JPEG that is much larger than
    ``side`` is decoded smaller. Refuses what is no picture (`PICTURE_UNREADABLE`) or decodes to too
    much (`PICTURE_TOO_LARGE`); messages continue a sentence that names the file."""
    # Imported here, so that the parent process does not load a decoder.
    from PIL import Image, ImageOps

    if count_scans(content) > MAX_SCANS:
        raise BadInput("PICTURE_TOO_LARGE", f"has more than {MAX_SCANS} scans")
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(file, formats=_FORMATS) as image:
                size = image.size
                if size[0] * size[1] > MAX_PIXELS:
                    raise _too_many_pixels(size)
                image.draft("RGB", (side, side))
                upright = ImageOps.exif_transpose(image)
                yield upright, *(size if upright.size == image.size else size[::-1])
        except (BadInput, MemoryError):
            raise
        except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
            raise _too_many_pixels(None) from error
        except Exception as error:
            # Decoders raise many kinds of exceptions for broken files.
            raise BadInput(
                "PICTURE_UNREADABLE",
                "is not a picture: not a JPEG, PNG, WebP, GIF or AVIF, or a broken one",
            ) from error


def _too_many_pixels(size: tuple[int, int] | None) -> BadInput:
    shown = "" if size is None else f": {size[0]:,} × {size[1]:,}"
    return BadInput("PICTURE_TOO_LARGE", f"has more than {MAX_PIXELS:,} pixels{shown}")


def is_picture(head: bytes) -> bool:
    """Whether the first 16 bytes of a file are those of a picture that can be read."""
    return (
        head.startswith((b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8"))
        or (head.startswith(b"RIFF") and head[8:12] == b"WEBP")
        or head[4:12] in (b"ftypavif", b"ftypavis")
    )


def count_scans(content: bytes) -> int:
    """The number of scans of a JPEG, without decoding; 0 for other formats. Stops at the limit."""
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
            # The length of a segment includes its own two bytes.
            at += max(2, int.from_bytes(content[at : at + 2], "big"))
        scans += kind == _SCAN
    return scans


def _all_fitting(image: Picture, boxes: Sequence[int], effort: int) -> list[bytes]:
    """The largest first, and each from the one before: shrinking a large picture takes longest."""
    made: dict[int, bytes] = {}
    for box in sorted(set(boxes), reverse=True):
        image = image.copy()
        image.thumbnail((box, box), reducing_gap=2.0)
        out = io.BytesIO()
        image.save(out, "WEBP", quality=_QUALITY, method=effort)
        made[box] = out.getvalue()
    return [made[box] for box in boxes]
