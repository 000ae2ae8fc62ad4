"""Parse multipart/form-data while it arrives: parts, headers and bytes, with limits."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final

from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from penstock.model.errors import BadInput

MOST_PARTS = 100
MOST_HEADERS = 16
HEADER_BYTES = 4096
# Before the first boundary and after the last: no known client sends much there.
OUTSIDE_BYTES = 64 * 1024
_END_OF_PART: Final = None


def bad_multipart(message: str) -> BadInput:
    return BadInput("BAD_MULTIPART", message)


@dataclass(frozen=True, slots=True)
class PartHead:
    name: str
    filename: bytes | None
    media_type: str


class PartReader:
    """Takes pieces of a body and returns parts; holds at most one piece."""

    def __init__(self, pieces: AsyncGenerator[bytes, None], boundary: bytes) -> None:
        self._pieces = pieces
        self._events: deque[PartHead | bytes | None] = deque()
        self._parts = 0
        self._read = 0
        self._outside = 0
        self._ended = False
        self._field = b""
        self._value = b""
        self._headers: dict[bytes, bytes] = {}
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._on_part_begin,
                    "on_header_field": self._on_header_field,
                    "on_header_value": self._on_header_value,
                    "on_header_end": self._on_header_end,
                    "on_headers_finished": self._on_headers_finished,
                    "on_part_data": self._on_part_data,
                    "on_part_end": lambda: self._events.append(_END_OF_PART),
                    "on_end": self._on_end,
                },
                max_header_count=MOST_HEADERS,
                max_header_size=HEADER_BYTES,
            )
        except FormParserError as error:
            raise bad_multipart(
                "The boundary in the Content-Type header cannot be used. Let your HTTP library make"
                " the form and its header together."
            ) from error

    async def parts(self) -> AsyncGenerator[PartHead, None]:
        """Each part's head; its bytes must be read with `data` before the next."""
        while await self._fill():
            head = self._events.popleft()
            assert isinstance(head, PartHead)
            yield head

    async def data(self) -> AsyncGenerator[bytes, None]:
        """The bytes of the part whose head came last."""
        while await self._fill():
            piece = self._events.popleft()
            if piece is _END_OF_PART:
                return
            assert isinstance(piece, bytes)
            yield piece

    async def _fill(self) -> bool:
        """False at the end of the body, which is valid only after the last boundary."""
        while not self._events:
            piece = await anext(self._pieces, None)
            if piece is None:
                if not self._ended:
                    raise bad_multipart("The body ends before its last boundary.")
                return False
            # In slices, so that a limit is noticed soon, whatever size the server reads at once.
            for start in range(0, len(piece), OUTSIDE_BYTES):
                self._feed(piece[start : start + OUTSIDE_BYTES])
        return True

    def _feed(self, piece: bytes) -> None:
        was_ended = self._ended
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise bad_multipart(
                f"The form is broken after byte {self._read:,}: its parts, their headers and the"
                " boundary between them do not fit. Let your HTTP library make the form and its"
                " header together (curl: -F file=@goods.csv)."
            ) from error
        self._read += len(piece)
        if was_ended or not self._parts:
            self._outside += len(piece)
            if self._outside > OUTSIDE_BYTES:
                raise bad_multipart("There is too much around the form's parts.")

    def _on_part_begin(self) -> None:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise bad_multipart(f"The form has more than {MOST_PARTS} parts.")
        self._headers = {}

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[self._field.lower()] = self._value
        self._field = self._value = b""

    def _on_headers_finished(self) -> None:
        kind, options = parse_options_header(self._headers.get(b"content-disposition"))
        name = options.get(b"name", b"").decode("utf-8", "replace")
        if kind != b"form-data" or not name:
            raise bad_multipart("A part of the form has no name.")
        media_type = self._headers.get(b"content-type", b"").decode("latin-1")
        self._events.append(PartHead(name, options.get(b"filename"), media_type))

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._events.append(bytes(data[start:end]))

    def _on_end(self) -> None:
        self._ended = True
