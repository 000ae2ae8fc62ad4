"""Parse XML as events, without external entities and entity expansion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html.entities import html5
from typing import Any
from xml.parsers import expat

from penstock.formats.detection.encodings import (
    MIXED,
    Encoding,
    as_cp1252,
    find_encoding,
    marked_encoding,
)
from penstock.formats.source import Source
from penstock.model.errors import BadInput
from penstock.model.text.encodings import is_text_encoding

_READ_CHARS = 64 * 1024
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})["']""")


class XmlText:
    """A parser over a whole source; the caller sets the handlers."""

    def __init__(self, source: Source, encoding: Encoding, limits: Mapping[str, int]) -> None:
        self._source = source
        self._encoding = encoding
        self._deepest = limits["nesting"]
        self._depth = 0
        self._parser = safe_parser()
        self._start: Callable[[str, dict[str, str]], Any] = lambda name, attributes: None
        self._end: Callable[[str], Any] = lambda name: None
        self._parser.StartElementHandler = self._began
        self._parser.EndElementHandler = self._ended

    def handle(
        self,
        start: Callable[[str, dict[str, str]], Any],
        end: Callable[[str], Any],
        text: Callable[[str], Any] | None = None,
    ) -> None:
        self._start, self._end = start, end
        if text is None:
            return
        self._parser.CharacterDataHandler = text

        def skipped(name: str, is_parameter: bool) -> None:
            # HTML entities in pasted text, which XML does not define.
            text(html5.get(f"{name};", f"&{name};"))

        self._parser.SkippedEntityHandler = skipped

    def read(self) -> Iterator[None]:
        """Feed the parser block by block; yields after each, so that results can be collected."""
        try:
            with self._source.text(self._encoding.name, self._encoding.errors) as file:
                # White space and marks before the declaration are invalid but common.
                block = file.read(_READ_CHARS).lstrip(" \t\r\n\ufeff")
                while block:
                    mixed = self._encoding.errors == MIXED
                    self._parser.Parse(as_cp1252(block) if mixed else block, False)
                    yield
                    block = file.read(_READ_CHARS)
                self._parser.Parse("", True)
                yield
        except expat.ExpatError as error:
            raise BadInput(
                "INVALID_XML",
                f"The XML is not valid in line {error.lineno:,}: {expat.ErrorString(error.code)}",
                line=error.lineno,
            ) from None
        except UnicodeDecodeError as error:
            raise BadInput(
                "INVALID_XML", f"The XML declares {error.encoding}, but is not: {error.reason}"
            ) from None

    def _began(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > self._deepest:
            raise BadInput("INVALID_XML", f"The XML is nested more than {self._deepest} deep")
        self._start(name, attributes)

    def _ended(self, name: str) -> None:
        self._depth -= 1
        self._end(name)


def safe_parser() -> Any:
    """Entity declarations are refused, so that none can be expanded."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.buffer_size = 64 * 1024
    parser.EntityDeclHandler = _forbid_entity
    parser.UnparsedEntityDeclHandler = _forbid_entity

    def external(context: str, base: str | None, system: str | None, public: str | None) -> int:
        # A DOCTYPE may name an external DTD, as in BMEcat. It is never fetched: an empty one
        # replaces it, so that undeclared entities are not errors.
        parser.ExternalEntityParserCreate(context).Parse("", True)
        return 1

    parser.ExternalEntityRefHandler = external
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
    parser.UseForeignDTD(True)
    return parser


def _forbid_entity(name: str, *rest: Any) -> None:
    raise BadInput("XML_FORBIDDEN", f"The XML declares an entity ({name}), which is not allowed")


def xml_encoding(source: Source, wanted: str | None) -> Encoding:
    """The encoding given, shown by a mark or declared; UTF-8 only if the file is valid UTF-8."""
    if wanted is not None:
        return Encoding(wanted)
    name = _declared(source.head(4096))
    if name != "utf-8-sig":
        return Encoding(name)
    found = find_encoding(source)
    if found.name.startswith("utf-8"):
        return found._replace(name=name)
    return found._replace(note=f"the XML says that it is UTF-8, but it is not: {found.name} fits")


def _declared(head: bytes) -> str:
    marked = marked_encoding(head)
    if marked is not None:
        return marked
    declared = _DECLARED.search(head[:400])
    name = declared[1].decode("ascii") if declared else "utf-8"
    if not is_text_encoding(name):
        raise BadInput("INVALID_XML", f"The XML names an unknown text encoding: {name}")
    return "utf-8-sig" if name.lower().replace("-", "") == "utf8" else name
