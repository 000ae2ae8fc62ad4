"""The binary format of COPY, built from values that are bytes already.

The driver would encode each value by the type of its column, which for rows of mostly JSON costs
several times as much.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from struct import Struct
from uuid import UUID

from penstock.store.database import Connection

_HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_PIECE = 1 << 19
_count = Struct("!h").pack
_length = Struct("!i").pack
_jsonb_head = Struct("!ib").pack
_int2 = Struct("!ih").pack
_int4 = Struct("!ii").pack
_int8 = Struct("!iq").pack

_float8 = Struct("!id").pack
# One dimension, no NULLs, of text; then the number of members and that of the first.
_texts_head = Struct("!iiiiii").pack
_TEXT_TYPE = 25

NULL = _length(-1)


def bytes_field(value: bytes | None) -> bytes:
    return NULL if value is None else _length(len(value)) + value


json_field = bytes_field


def text_field(value: str | None) -> bytes:
    if value is None:
        return NULL
    encoded = value.encode()
    return _length(len(encoded)) + encoded


def jsonb_field(value: bytes | None) -> bytes:
    return NULL if value is None else _jsonb_head(len(value) + 1, 1) + value


def uuid_field(value: UUID) -> bytes:
    return _length(16) + value.bytes


_TRUE, _FALSE = _length(1) + b"\1", _length(1) + b"\0"


def bool_field(value: bool) -> bytes:
    return _TRUE if value else _FALSE


def int2_field(value: int) -> bytes:
    return _int2(2, value)


def int4_field(value: int) -> bytes:
    return _int4(4, value)


def int8_field(value: int) -> bytes:
    return _int8(8, value)


def float8_field(value: float | None) -> bytes:
    return NULL if value is None else _float8(8, value)


def texts_field(values: Sequence[str] | None) -> bytes:
    if values is None:
        return NULL
    if not values:
        return _length(12) + _length(0) * 2 + _length(_TEXT_TYPE)
    members = b"".join([_length(len(one)) + one for one in map(str.encode, values)])
    return _texts_head(20 + len(members), 1, 0, _TEXT_TYPE, len(values), 1) + members


async def copy_rows(
    conn: Connection, schema: str | None, table: str, columns: tuple[str, ...],
    rows: Iterable[bytes],
) -> None:  # fmt: skip
    """COPY rows into a table. Each row is the joined fields of all ``columns``."""
    await conn.copy_to_table(
        table, schema_name=schema, columns=columns, source=_pieces(len(columns), rows),
        format="binary",
    )  # fmt: skip


async def _pieces(columns: int, rows: Iterable[bytes]) -> AsyncIterator[bytes]:
    """In pieces, so that the rows are never all in memory a second time."""
    begin = _count(columns)
    piece, size = [_HEAD], 0
    for row in rows:
        piece += (begin, row)
        size += len(row)
        if size > _PIECE:
            yield b"".join(piece)
            piece, size = [], 0
    yield b"".join((*piece, _END))
