"""What a file is, by its content: what its name or its sender says is believed only as far as the
bytes do not contradict it."""

from __future__ import annotations

import mimetypes
import re

from penstock.model.errors import BadInput
from penstock.model.text.xml_prologue import skip_prologue

_MEDIA_TYPE = re.compile(r"[a-z0-9!#$&^_.+-]{1,63}/[a-z0-9!#$&^_.+-]{1,63}")
_ANY = "application/octet-stream"
_MARKS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"\x1f\x8b", "application/gzip"),
)
_WEBP = re.compile(rb"RIFF.{4}WEBP", re.DOTALL)
_PAGE = re.compile(r"<(?:!doctype )?(html|svg|script)", re.I)
_HEAD_BYTES = 4096
# Containers of many kinds: what is inside, the name and the sender know better.
_CONTAINERS = (b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0")


def media_type_of(name: str, declared: str, head: bytes) -> str:
    """The file's type. A picture that is none, as a page under a picture's name, is refused: a
    browser that is given it would run it."""
    said = _said(name, declared)
    found = _by_content(head)
    if said.startswith("image/") and said != "image/svg+xml":
        if found is None or not found.startswith("image/") or found == "image/svg+xml":
            raise BadInput(
                "UNSUPPORTED_TYPE",
                f"{name} calls itself {said}, but its content is "
                f"{'something else' if found is None else found}. Send the picture itself, or the"
                " file under its real name.",
                declared=said, found=found,
            )  # fmt: skip
        return found
    if found is not None:
        return found
    if head.startswith(_CONTAINERS) or not said.startswith("text/html"):
        return said
    return _ANY


def _said(name: str, declared: str) -> str:
    kind = declared.partition(";")[0].strip().lower()
    by_name = mimetypes.guess_type(name)[0]
    if by_name is not None and by_name.startswith("image/"):
        return by_name
    if _MEDIA_TYPE.fullmatch(kind) and kind != _ANY:
        return kind
    return by_name or _ANY


def _by_content(head: bytes) -> str | None:
    for mark, kind in _MARKS:
        if head.startswith(mark):
            return kind
    if _WEBP.match(head):
        return "image/webp"
    text = head[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    page = _PAGE.match(text, skip_prologue(text))
    if page is None:
        return None
    return "image/svg+xml" if page[1].lower() == "svg" else "text/html"
