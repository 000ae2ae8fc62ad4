"""A body as it was before it was packed, never more of it at once than was asked for."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from penstock.model.errors import BadInput, Unavailable

# Only what can be unpacked piece by piece within a bound is asked for.
ACCEPTED = "gzip, deflate"
_PIECE = 64 * 1024
_EITHER_GZIP_OR_ZLIB = 47


class Inflater:
    """Decoded pieces of a body, each of a bounded size whatever it was packed from."""

    def __init__(self, encoding: str | None) -> None:
        names = [name.strip().lower() for name in (encoding or "").split(",") if name.strip()]
        names = [name for name in names if name != "identity"]
        # Packed twice is of no use but to those who want to fill a memory.
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
                # Some servers leave the header of deflate out.
                self._unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
        while raw:
            try:
                piece = self._unpacker.decompress(raw, _PIECE)
            except zlib.error as error:
                raise Unavailable("NETWORK_ERROR", "The answer is packed wrongly.") from error
            if piece:
                yield piece
            if self._unpacker.eof:
                return
            raw = self._unpacker.unconsumed_tail

    def end(self) -> None:
        """The body came to its end; what it was packed as must have, too."""
        if self._unpacker is not None and self._begun and not self._unpacker.eof:
            raise Unavailable("NETWORK_ERROR", "The answer ended early.")
