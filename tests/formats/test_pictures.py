"""Pictures from anywhere: what can be decoded is made small and plain, the rest is refused."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from penstock.formats.pictures import MAX_PIXELS, shrink
from penstock.model.errors import BadInput


def picture(kind: str, size: tuple[int, int] = (300, 200), mode: str = "RGB") -> bytes:
    made = io.BytesIO()
    Image.new(mode, size, 120).save(made, kind)
    return made.getvalue()


def opened(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))


def huge_png(width: int, height: int) -> bytes:
    """A few bytes that claim to be very many pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF", "AVIF"])
def test_every_kind_becomes_webp_of_both_sizes(kind: str) -> None:
    small, large = map(opened, shrink(picture(kind), [96, 960]))
    assert (small.format, large.format) == ("WEBP", "WEBP")
    assert small.size == (96, 64)
    assert large.size == (300, 200), "nothing is enlarged"


@pytest.mark.parametrize(
    ("kind", "mode"), [("JPEG", "CMYK"), ("PNG", "I;16"), ("PNG", "P"), ("PNG", "1")]
)
def test_other_colours_become_plain_ones(kind: str, mode: str) -> None:
    (made,) = shrink(picture(kind, mode=mode), [96])
    assert opened(made).mode == "RGB"


def test_what_is_seen_through_stays_so() -> None:
    assert opened(shrink(picture("PNG", mode="RGBA"), [96])[0]).mode == "RGBA"


def test_it_stands_upright_and_tells_nothing_of_its_maker() -> None:
    told = Image.Exif()
    told[0x0112] = 6  # turned by a quarter
    told[0x010F] = "a camera"
    made = io.BytesIO()
    Image.new("RGB", (300, 200)).save(made, "JPEG", exif=told)
    small = opened(shrink(made.getvalue(), [96])[0])
    assert small.size == (64, 96)
    assert not small.getexif()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>not here</html>",
        b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        b"%PDF-1.7",
        picture("PNG")[:200],
        picture("JPEG")[:300],
        picture("TIFF"),
        picture("BMP"),
        b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
        b"GIF89a<script>alert(1)</script>",
    ],
)
def test_what_is_no_picture_is_refused(content: bytes) -> None:
    with pytest.raises(BadInput) as caught:
        shrink(content, [96])
    assert caught.value.code == "PICTURE_UNREADABLE"


@pytest.mark.parametrize("side", [6500, 13_000, 60_000])
def test_more_pixels_than_fit_are_never_decoded(side: int) -> None:
    assert side * side > MAX_PIXELS
    with pytest.raises(BadInput) as caught:
        shrink(huge_png(side, side), [96])
    assert caught.value.code == "PICTURE_UNREADABLE"
