"""Decompress HTTP bodies in pieces of bounded size."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from penstock.model.errors import BadInput, Unavailable

# Encodings that can be decompressed in bounded pieces.
ACCEPTED = "gzip, deflate"
_PIECE = 64 * 1024
_EITHER_GZIP_OR_ZLIB = 47


class Inflater:
    """Decompressed pieces of a body, each of bounded size."""

    def __init__(self, encoding: str | None) -> None:
        names = [name.strip().lower() for name in (encoding or "").split(",") if name.strip()]
        names = [name for name in names if name != "identity"]
        # Double compression is only used in attacks.
        if len(names) > 1 or (names and names[0] not in ("gzip", "x-gzip", "deflate")):
            raise BadInput(
                "UNSUPPORTED_TYPE", f"The answer is encoded as {', '.join(names)[:100]!r}."
            )
        self._kind = names[0] if names else ""
        self._unpacker = zlib.decompressobj(_EITHER_GZIP_OR_ZLIB) if names else None
        self._begun = False

    def feed(self, raw: bytes) -> Iterator[bytes]:
        if self._unpacker is None:
            yield raw
            return
        if raw and not self._begun:
            self._begun = True
            if self._kind == "deflate" and raw[0] & 0x0F != 8:
                # Some servers omit the zlib header of deflate.
                self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        while raw:
            try:
                piece = self._unpacker.decompress(raw, _PIECE)
            except zlib.error as error:
                raise Unavailable(
                    "NETWORK_ERROR", "The answer's compression is invalid."
                ) from error
            if piece:
                yield piece
            if self._unpacker.eof:
                return
            raw = self._unpacker.unconsumed_tail

    def end(self) -> None:
        """Check that the compressed data ended with the body."""
        if self._unpacker is not None and self._begun and not self._unpacker.eof:
            raise Unavailable("NETWORK_ERROR", "The answer ended early.")
