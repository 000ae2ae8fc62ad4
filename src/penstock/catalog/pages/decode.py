"""The text of a page from its bytes: by byte order mark, header, `meta` and content."""

from __future__ import annotations

import codecs
import re

_META = re.compile(
    rb"<meta[^>]{0,300}?charset\s{0,9}+=\s{0,9}+[\"']?\s{0,9}+([a-zA-Z0-9_:.-]{1,40})",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"charset\s{0,9}+=\s{0,9}+[\"']?\s{0,9}+([a-zA-Z0-9_:.-]{1,40})", re.IGNORECASE
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
# Names that browsers read as another encoding, because pages mean that one.
_MEANT = {
    "iso-8859-1": "cp1252", "iso8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252",
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-9": "cp1254", "gb2312": "gb18030",
    "gbk": "gb18030", "ks_c_5601-1987": "cp949", "euc-kr": "cp949", "shift_jis": "cp932",
    "x-sjis": "cp932", "big5": "big5hkscs", "windows-31j": "cp932",
}  # fmt: skip
_HEAD_BYTES = 4_096


def decode_page(body: bytes, content_type: str | None = None) -> str:
    """The page as text, without NULs; never fails. A declared encoding that the bytes contradict
    is not followed: UTF-8 declared as Latin-1 is read as UTF-8."""
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return _text(body[len(mark) :], encoding)
    declared = _declared(body, content_type)
    if declared is not None and declared.startswith("utf-16"):
        # Without a byte order mark a page that declares UTF-16 in ASCII letters is not in it.
        declared = None
    if declared is None or _is_single_byte(declared):
        try:
            text = body.decode("utf-8")
        except UnicodeDecodeError:
            pass
        else:
            return text.replace("\0", "")
    return _text(body, declared or _guess(body))


def _declared(body: bytes, content_type: str | None) -> str | None:
    in_header = _HEADER.search(content_type or "")
    in_page = _META.search(body[:_HEAD_BYTES])
    names = [in_header[1]] if in_header else []
    if in_page:
        names.append(in_page[1].decode("ascii"))
    for name in names:
        meant = _MEANT.get(name.lower(), name.lower())
        try:
            b"a".decode(meant, "replace")
        except LookupError:  # an unknown name, or a codec that is not for text
            continue
        return codecs.lookup(meant).name
    return None


def _is_single_byte(encoding: str) -> bool:
    return encoding.startswith(("cp12", "iso8859", "koi8", "mac-"))


def _guess(body: bytes) -> str:
    """The encoding of a page that declares none and is not UTF-8, by the share of letters among
    its bytes above 127."""
    high = bytes(byte for byte in body[:200_000] if byte > 127)[:20_000]

    def letters(encoding: str) -> int:
        return sum(char.isalpha() for char in high.decode(encoding, "ignore"))

    if high and len(set(high)) > 20 and letters("cp1251") > len(high) * 0.9 > letters("cp1252"):
        return "cp1251"
    return "cp1252"


def _text(body: bytes, encoding: str) -> str:
    return body.decode(encoding, "replace").replace("\0", "")
