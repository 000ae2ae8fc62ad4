"""Read barcodes and perceptual hashes of untrusted pictures.

Runs in a child process, since decoders parse untrusted data.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from penstock.formats.picture_hash import PictureHashes, flat, hashes_of
from penstock.formats.pictures import PICTURE_BYTES, is_picture, opened_picture
from penstock.formats.source import check_zip, open_zip
from penstock.model.errors import BadInput
from penstock.model.transfer import transferable

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

# Sides of the picture as it is scanned: larger ones cost time, and codes are not read better.
_SIDE, _LARGE_SIDE, _TURNED_SIDE = 1400, 3000, 900
# Codes at other angles than a right one; each is read across and along.
_ANGLES = (30, -30, 45, 15, -15)
# Smaller pictures are enlarged, so many times.
_SMALL_SIDES = ((450, 3), (900, 2))
# A code that corrects errors itself; the others only have a check digit.
_CORRECTED = "QRCode"
# Sizes that a linear code must be read in, too.
_CONFIRMED_AT = (1.4, 0.85)
_JUNK = ("__MACOSX/", ".DS_Store", "Thumbs.db")


@transferable
class PictureScan(NamedTuple):
    """``codes`` are format and text of each barcode."""

    width: int
    height: int
    codes: list[tuple[str, str]]
    hashes: PictureHashes | None


def pictures_in(path: str, limits: Mapping[str, int]) -> list[str] | None:
    """The pictures in a ZIP archive, by name; None if the file is no archive or has none."""
    with open(path, "rb") as file:
        if file.read(4) != b"PK\x03\x04":
            return None
    with open_zip(Path(path)) as archive:
        check_zip(archive, Path(path).stat().st_size, limits)
        return [
            entry.filename
            for entry in archive.infolist()
            if not entry.filename.endswith("/")
            and not any(junk in entry.filename for junk in _JUNK)
            and not entry.flag_bits & 1
            and _is_picture(archive, entry)
        ] or None


def _is_picture(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bool:
    with archive.open(entry) as file:
        return is_picture(file.read(16))


def scan_file(path: str, member: str | None) -> PictureScan:
    """Scan the picture in a file, or in a member of a ZIP archive."""
    if member is None:
        with open(path, "rb") as file:
            return scan(file.read(PICTURE_BYTES + 1))
    with open_zip(Path(path)) as archive, archive.open(member) as file:
        return scan(file.read(PICTURE_BYTES + 1))


def scan(content: bytes) -> PictureScan:
    if len(content) > PICTURE_BYTES:
        raise BadInput("PICTURE_TOO_LARGE", f"has more than {PICTURE_BYTES:,} bytes")
    with opened_picture(io.BytesIO(content), content, _LARGE_SIDE) as (image, width, height):
        plain = flat(image)
        return PictureScan(width, height, _codes(plain), hashes_of(plain))


def _codes(image: Picture) -> list[tuple[str, str]]:
    """The first try that reads any code ends the search. Blurred bars are sometimes read wrongly in
    spite of their check digit, so a linear code counts if another size gives it, too."""
    for changed in _changed(image):
        found = _read(changed)
        if not found:
            continue
        unsure = {code for code in found if code[0] != _CORRECTED}
        confirmed = found - unsure
        for times in _CONFIRMED_AT if unsure else ():
            confirmed |= unsure & _read(_resized(changed, times))
        if confirmed:
            return sorted(confirmed)
    return []


def _read(image: Picture) -> set[tuple[str, str]]:
    import zxingcpp

    wanted = zxingcpp.BarcodeFormats(
        [zxingcpp.EAN13, zxingcpp.EAN8, zxingcpp.UPCA, zxingcpp.UPCE, zxingcpp.QRCode]
    )
    return {
        (one.format.name, one.text)
        for one in zxingcpp.read_barcodes(image, formats=wanted)
        if one.valid and one.text
    }


def _resized(image: Picture, times: float) -> Picture:
    from PIL import Image

    size = (round(image.width * times), round(image.height * times))
    return image.resize(size, Image.Resampling.BICUBIC)


def _changed(image: Picture) -> Iterator[Picture]:
    """The picture as it is, then changed so that codes that are small, blurred or at an angle can
    be read."""
    from PIL import Image, ImageFilter, ImageOps

    usual = _fitting(image, _SIDE)
    yield usual
    if max(image.size) > _SIDE:
        yield _fitting(image, _LARGE_SIDE)
    sharp = ImageOps.autocontrast(usual, cutoff=1).filter(
        ImageFilter.UnsharpMask(radius=3, percent=250, threshold=0)
    )
    yield sharp
    times = next((times for side, times in _SMALL_SIDES if max(image.size) <= side), None)
    if times is not None:
        size = (image.width * times, image.height * times)
        yield image.resize(size, Image.Resampling.BICUBIC)
        yield sharp.resize(size, Image.Resampling.BICUBIC)
    small = _fitting(image, _TURNED_SIDE)
    for angle in _ANGLES:
        yield small.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=255)


def _fitting(image: Picture, side: int) -> Picture:
    if max(image.size) <= side:
        return image
    smaller = image.copy()
    smaller.thumbnail((side, side), reducing_gap=2.0)
    return smaller
