"""Answers of IMAP servers: which attachments a mail has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.header import decode_header
from email.message import Message
from typing import Any
from urllib.parse import unquote_to_bytes

from penstock.model.text.encodings import is_text_encoding
from penstock.places.errors import refusal

_MAX_DEPTH = 30
_MAX_PARTS = 200
_LITERAL = re.compile(rb"\{[0-9]{1,12}\}$")
_NO_NAME = re.compile(r"[/\\\x00-\x1f\x7f-\x9f]")
_MAX_NAME = 200


@dataclass(frozen=True, slots=True)
class Attachment:
    """``part`` is its number in the mail, such as `2.1`."""

    name: str
    part: str
    encoding: str
    encoded_size: int

    @property
    def size(self) -> int:
        return self.encoded_size * 3 // 4 if self.encoding == "base64" else self.encoded_size


def parse_answers(answers: Sequence[Any]) -> list[dict[str, Any]]:
    """The items of each FETCH answer by name. Literals come apart from the text around them."""
    tokens: list[Any] = []
    for one in answers:
        if isinstance(one, tuple):
            tokens += _tokens(_LITERAL.sub(b"", bytes(one[0])))
            tokens.append(_Text(bytes(one[1]).decode("utf-8", "replace")))
        else:
            tokens += _tokens(bytes(one))
    found = []
    for value in _nested(iter(tokens), 0):
        if isinstance(value, list):
            pairs = zip(value[::2], value[1::2], strict=False)
            found.append({str(name).upper(): item for name, item in pairs})
    return found


class _Text(str):
    """A quoted text or literal, which is never a parenthesis or NIL."""

    __slots__ = ()


def _tokens(text: bytes) -> Iterator[Any]:
    line, at = text.decode("utf-8", "replace"), 0
    while at < len(line):
        char = line[at]
        if char in "()":
            yield char
            at += 1
        elif char == '"':
            quoted = []
            at += 1
            while at < len(line) and line[at] != '"':
                at += line[at] == "\\"
                quoted.append(line[at : at + 1])
                at += 1
            at += 1
            yield _Text("".join(quoted))
        elif char.isspace():
            at += 1
        else:
            begin = at
            while at < len(line) and not line[at].isspace() and line[at] not in '()"':
                at += 1
            yield line[begin:at]


def _nested(tokens: Iterator[Any], depth: int) -> list[Any]:
    if depth > _MAX_DEPTH:
        raise refusal("The server describes a mail with too many parts inside of each other.")
    found: list[Any] = []
    for one in tokens:
        if isinstance(one, _Text):
            found.append(one)
        elif one == "(":
            found.append(_nested(tokens, depth + 1))
        elif one == ")":
            return found
        else:
            found.append(None if one.upper() == "NIL" else one)
    return found


def attachments_of(structure: Any) -> list[Attachment]:
    """Parts of a mail that have a file name."""
    found: list[Attachment] = []
    _walk(structure, "", found)
    return found


def _walk(part: Any, number: str, found: list[Attachment]) -> None:
    if not isinstance(part, list) or not part or len(found) >= _MAX_PARTS:
        return
    if isinstance(part[0], list):
        children = [one for one in part if isinstance(one, list)]
        # Lists after the subtype are parameters, not parts.
        subtype = next((at for at, one in enumerate(part) if not isinstance(one, list)), len(part))
        for place, child in enumerate(children[:subtype], 1):
            _walk(child, f"{number}.{place}" if number else str(place), found)
        return
    if len(part) < 7:
        return
    name = _name_of(part)
    if name:
        size = int(part[6]) if str(part[6]).isdecimal() else 0
        encoding = str(part[5] or "").lower()
        found.append(Attachment(name, number or "1", encoding, size))


def _name_of(part: list[Any]) -> str:
    parameters = _pairs(part[2])
    for one in part[7:]:
        is_disposition = isinstance(one, list) and len(one) == 2 and isinstance(one[0], str)
        if is_disposition and one[0].lower() in ("attachment", "inline"):
            parameters = parameters | _pairs(one[1])
        elif isinstance(one, str) and one.lower().startswith(("attachment;", "inline;")):
            # Some servers send the header as it is.
            parameters = parameters | _header_parameters(one)
    for key in ("filename*", "name*"):
        if key in parameters:
            return _plain(_extended(parameters[key]))
    return _plain(_decoded(parameters.get("filename") or parameters.get("name") or ""))


def _pairs(given: Any) -> dict[str, str]:
    if not isinstance(given, list):
        return {}
    texts = ["" if one is None or isinstance(one, list) else str(one) for one in given]
    return {key.lower(): value for key, value in zip(texts[::2], texts[1::2], strict=False)}


def _header_parameters(text: str) -> dict[str, str]:
    header = Message()
    header["Content-Disposition"] = text[:2000].replace("\r", "").replace("\n", "")
    found = header.get_params([], "content-disposition", unquote=True)
    return {key.lower(): value for key, value in found if isinstance(value, str)}


def _extended(text: str) -> str:
    """``utf-8''caf%C3%A9.csv``."""
    encoding, _, rest = text.partition("'")
    raw = unquote_to_bytes(rest.partition("'")[2])
    return raw.decode(encoding if is_text_encoding(encoding) else "utf-8", "replace")


def _decoded(text: str) -> str:
    """``=?utf-8?b?…?=``."""
    if "=?" not in text:
        return text
    try:
        parts = decode_header(text[:2000])
    except ValueError:
        return text
    return "".join(
        one if isinstance(one, str)
        else one.decode(code if code and is_text_encoding(code) else "utf-8", "replace")
        for one, code in parts
    )  # fmt: skip


def _plain(name: str) -> str:
    return _NO_NAME.sub("_", name).strip()[-_MAX_NAME:]
