"""What the barcodes and the file name of a picture say about the product in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from penstock.catalog.values.gtin import is_valid, match_key

_MAX_CODES = 10
_MAX_SKU_LENGTH = 80
# GS1 element strings and digital links: (01)04006381333931, https://id.gs1.org/01/04006381333931
_GS1 = re.compile(r"(?:\(01\)|/01/|^01)([0-9]{14})")
_SHORT_GS1 = re.compile(r"/01/([0-9]{8,14})(?:[/?#]|$)")
# What cameras and people add to the name of a product: `B-820_2`, `B-820 (1)`, `B-820-front`.
_SUFFIX = re.compile(
    r"(?:[ _-]{0,3}\([0-9]{1,3}\)|[ _-](?:[0-9]{1,2}|front|back|side|top|left|right|main|detail))$",
    re.I,
)
_SEPARATORS = re.compile(r"[_+]+|-(?=[^0-9])|%20")


class PictureNames(NamedTuple):
    """``gtins`` have 14 digits. ``file_gtins`` and ``file_skus`` come from the name of the file."""

    gtins: Sequence[str] = ()
    skus: Sequence[str] = ()
    file_gtins: Sequence[str] = ()
    file_skus: Sequence[str] = ()
    file_title: str = ""

    def as_json(self) -> dict[str, Any]:
        return {name: one for name, one in zip(self._fields, self, strict=True) if one}

    @staticmethod
    def of_json(told: Mapping[str, Any]) -> PictureNames:
        known = {name: told[name] for name in PictureNames._fields if name in told}
        return PictureNames(**known)


def names_of_picture(codes: Iterable[tuple[str, str]], file_name: str) -> PictureNames:
    gtins: list[str] = []
    skus: list[str] = []
    for kind, text in list(codes)[:_MAX_CODES]:
        gtin = _gtin_of_code(kind, text)
        if gtin is not None:
            gtins.append(gtin)
        elif kind == "QRCode" and (sku := _sku_of_text(text)):
            skus.append(sku)
    stem = file_name.rpartition("/")[2].rpartition(".")[0] or file_name
    bare = _SUFFIX.sub("", stem).strip()
    stems = list(dict.fromkeys(one for one in (stem.strip(), bare) if one))
    return PictureNames(
        _unique(gtins),
        _unique(skus),
        _unique([match_key(one) for one in stems if is_valid(one)]),
        [one[:_MAX_SKU_LENGTH] for one in stems],
        " ".join(_SEPARATORS.sub(" ", bare).split()),
    )


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _gtin_of_code(kind: str, text: str) -> str | None:
    digits = upc_a_of(text) if kind == "UPCE" else text
    if kind != "QRCode":
        return match_key(digits) if digits and is_valid(digits) else None
    if is_valid(text.strip()):
        return match_key(text.strip())
    for pattern in (_GS1, _SHORT_GS1):
        found = pattern.search(text)
        if found is not None and is_valid(found[1]):
            return match_key(found[1])
    return None


def _sku_of_text(text: str) -> str | None:
    """A short text is taken as a SKU; of an address, its last part."""
    text = text.strip()
    if "://" in text:
        text = re.split(r"[?#]", text)[0].rstrip("/").rpartition("/")[2]
    return text if 0 < len(text) <= _MAX_SKU_LENGTH and "\n" not in text else None


def upc_a_of(upc_e: str) -> str | None:
    """The 12 digits that an 8-digit UPC-E stands for."""
    if len(upc_e) != 8 or not upc_e.isdecimal() or upc_e[0] not in "01":
        return None
    system, body, check = upc_e[0], upc_e[1:7], upc_e[7]
    match body[5]:
        case "0" | "1" | "2":
            full = f"{body[:2]}{body[5]}0000{body[2:5]}"
        case "3":
            full = f"{body[:3]}00000{body[3:5]}"
        case "4":
            full = f"{body[:4]}00000{body[4]}"
        case _:
            full = f"{body[:5]}0000{body[5]}"
    return system + full + check
