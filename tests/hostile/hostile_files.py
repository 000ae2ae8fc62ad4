"""A server of files that do harm: pictures that are large once decoded, lists that never end."""

from __future__ import annotations

import asyncio
import struct
import zlib

_SIDE = 4000
_TRICKLE_S = 0.2


def _png() -> bytes:
    """16 million pixels in 16 KiB."""

    def chunk(name: bytes, data: bytes) -> bytes:
        checksum = zlib.crc32(name + data)
        return struct.pack("!I", len(data)) + name + data + struct.pack("!I", checksum)

    head = struct.pack("!IIBBBBB", _SIDE, _SIDE, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes((_SIDE + 1) * _SIDE), 9)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


async def serve_hostile_files(port: int) -> asyncio.Server:
    """`/N.png` is such a picture, everything else a list of which a line comes now and then."""
    picture = _png()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            asked = await reader.readuntil(b"\r\n\r\n")
            if b".png " in asked.split(b"\r\n", 1)[0]:
                length = b"Content-Length: %d\r\n\r\n" % len(picture)
                writer.write(head % b"image/png" + length + picture)
                await writer.drain()
                return
            writer.write(head % b"text/csv" + b"\r\nsku,title\n")
            for number in range(10_000):
                writer.write(b"%d,Thing\n" % number)
                await writer.drain()
                await asyncio.sleep(_TRICKLE_S)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", port)
