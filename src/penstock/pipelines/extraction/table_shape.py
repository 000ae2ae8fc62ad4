"""Bring a table into the usual shape while it is read: one product a row, each column one field.

A transposed table, with a field in each row, is turned. Headings between rows become a column of
their own: `Tools`, or `Brand: Acme`. Both are decided by the first rows and kept in the cursor, so
that a resumed reading gives the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from penstock.catalog.mapping.synonyms import candidates
from penstock.formats.read_table import read_table
from penstock.formats.structure.cell_kinds import unique_names
from penstock.formats.tables import Piece, TableChunk, TableEnd, TableHead
from penstock.pipelines.extraction.continued_rows import continues_rows, with_complete_products
from penstock.pipelines.extraction.headings import MAX_LENGTH, count_filled, heading_of

Rows = Sequence[Sequence[str]]

SHAPE = "shape"
_TRANSPOSED = "transposed"
_CONTINUED = "continued"
_SECTION = "Section"
# A table with more fields than this is not compared as a transposed one.
_MAX_FIELDS = 100
_MIN_FIELDS = 3
_MIN_CONFIDENCE = 0.7
_NAMES = frozenset(("title", "identifiers.sku", "identifiers.gtin", "identifiers.mpn", "sourceId"))
_MIN_WIDTH = 3
# A header is looked for in so many rows, a table in so many further sheets.
_MAX_LINES_ABOVE = 20
_MAX_SHEETS = 10
# The name of a column without one.
_UNNAMED = re.compile(r"Column [0-9]{1,4}")
# Formats whose records name their fields.
_RECORDS = frozenset(("json", "ndjson", "xml", "blocks"))
_LABELLED = re.compile(r"(?P<label>[^\W\d_][\w ]{1,30}?)\s?:\s?(?P<value>\S.{0,79})")


def read_shaped(
    path: str,
    options: Mapping[str, Any],
    limits: Mapping[str, int],
    cursor: Mapping[str, Any] | None = None,
) -> Iterator[Piece]:
    """`read_table`, with the table in its usual shape. A header given by the caller says that the
    table is not transposed."""
    shape: str | None = None
    if cursor is not None:
        plan = dict(cursor["plan"])
        shape = plan.pop(SHAPE, None)
        cursor = {**cursor, "plan": plan}
    if shape == _TRANSPOSED:
        yield from _transpose(list(read_table(path, options, limits, cursor)))
        return
    pieces = read_table(path, options, limits, cursor)
    if cursor is not None and shape is None:
        yield from pieces
        return
    if shape == _CONTINUED:
        head = next(pieces)
        assert isinstance(head, TableHead)
        yield head._replace(plan={**head.plan, SHAPE: _CONTINUED})
        yield from with_complete_products(pieces, head.names, resumed=True)
        return
    begun = list(islice(pieces, 3))
    if cursor is None and (better := _better_start(path, options, limits, begun)) is not None:
        options = better
        pieces = read_table(path, options, limits)
        begun = list(islice(pieces, 3))
    if cursor is None and isinstance(begun[-1], TableEnd) and options.get("header_row") is None:
        turned = _read_transposed(path, options, limits, begun)
        if turned is not None:
            yield from _transpose(turned)
            return
    head = begun[0]
    if cursor is None and isinstance(head, TableHead) and continues_rows(head.names):
        yield head._replace(plan={**head.plan, SHAPE: _CONTINUED})
        yield from with_complete_products(chain(begun[1:], pieces), head.names, resumed=False)
        return
    yield from _with_sections(begun, pieces, shape)


def _with_sections(
    begun: Sequence[Piece], rest: Iterator[Piece], name: str | None
) -> Iterator[Piece]:
    """The pieces with a column for headings, if there are any. ``name`` is that of a resumed
    reading."""
    head, first = begun[0], begun[1]
    assert isinstance(head, TableHead)
    sections = None
    if isinstance(first, TableChunk):
        sections = _Sections.of(head, first.rows, name)
    if sections is None:
        yield from chain(begun, rest)
        return
    names = unique_names([*head.names, sections.name])
    yield head._replace(plan={**head.plan, SHAPE: sections.name}, names=names)
    for piece in chain(begun[1:], rest):
        yield sections.add_to(piece)


def _better_start(
    path: str, options: Mapping[str, Any], limits: Mapping[str, int], begun: Sequence[Piece]
) -> Mapping[str, Any] | None:
    """Options with the sheet or the header row that names fields, if the reader, which knows no
    names, chose a sheet or a start of the table that names none."""
    if options.get("header_row") is not None or options.get("skip_rows") is not None:
        return None
    head, first = begun[0], begun[1]
    assert isinstance(head, TableHead)
    if head.plan["format"] in _RECORDS or _names_fields(head.names, least=1):
        return None
    if options.get("sheet") is None:
        for sheet in _other_sheets(head):
            asked = {**options, "sheet": sheet}
            other = next(read_table(path, asked, limits))
            if isinstance(other, TableHead) and _names_fields(other.names, least=_MIN_FIELDS):
                return asked
    if not head.detected["header_rows"] and not head.detected["preamble"]:
        rows = first.rows if isinstance(first, TableChunk) else []
        for number, row in enumerate(rows[:_MAX_LINES_ABOVE], start=1):
            if _names_fields(row, least=2):
                return {**options, "header_row": number}
    return None


def _other_sheets(head: TableHead) -> list[str]:
    found = head.detected
    return [
        one["name"]
        for one in found.get("sheets") or ()
        if one["visible"] and one["cells"] and one["name"] != found.get("sheet")
    ][:_MAX_SHEETS]


def _names_fields(names: Sequence[str], least: int) -> bool:
    """Whether at least so many of the names, and half of those with letters, are known."""
    worded = [name for name in names if any(map(str.isalpha, name)) and not name[0].isdigit()]
    known = sum(1 for name in worded if not _UNNAMED.fullmatch(name) and _fields(name))
    return known >= least and 2 * known >= len(worded)


@dataclass(slots=True)
class _Sections:
    """Adds the last heading to each row."""

    name: str
    width: int
    current: str = ""

    @staticmethod
    def of(head: TableHead, rows: Rows, name: str | None) -> _Sections | None:
        """None if the rows have no headings."""
        width = len(head.names)
        found = [n for n, row in enumerate(rows) if heading_of(row)]
        if name is not None:
            return _Sections(name, width, _title(head, rows))
        if head.plan["format"] in _RECORDS:
            return None
        if width < _MIN_WIDTH or not found or 2 * len(found) > len(rows):
            return None
        followed = [n for n in found if n + 1 < len(rows) and count_filled(rows[n + 1]) > 1]
        if len(followed) < len(found) or (
            len(found) == 1 and found != [0] and not _title(head, rows)
        ):
            return None
        labels = {_label(heading_of(rows[n]) or "") for n in found}
        label = labels.pop() if len(labels) == 1 else None
        return _Sections(label or _SECTION, width, _title(head, rows))

    def add_to(self, piece: Piece) -> Piece:
        if not isinstance(piece, TableChunk):
            return piece
        for row in piece.rows:
            heading = heading_of(row)
            if heading is None:
                row[self.width : self.width] = [*[""] * (self.width - len(row)), self.current]
            else:
                self.current = self._value(heading)
                row += [""] * (self.width + 1 - len(row))
        return piece

    def _value(self, heading: str) -> str:
        labelled = _LABELLED.fullmatch(heading)
        return labelled["value"].strip() if labelled and self.name != _SECTION else heading


def _label(heading: str) -> str | None:
    """`Brand` of `Brand: Acme`, if that is the name of a field."""
    found = _LABELLED.fullmatch(heading)
    return found["label"].strip() if found and _fields(found["label"]) else None


def _title(head: TableHead, rows: Rows) -> str:
    """The title above the first header of a file that repeats its header below each title."""
    preamble, lines = head.detected.get("preamble") or (), head.detected.get("header_rows") or ()
    if not preamble or not lines or not head.plan.get("repeats") or (rows and heading_of(rows[0])):
        return ""
    last = preamble[-1]
    text = last["text"].strip(" ,;|\t")
    return text if last["line"] == lines[0] - 1 and heading_of([text]) else ""


def _fields(name: str) -> frozenset[str]:
    """The fields that a column of this name is likely to fill."""
    if not name.strip() or len(name) > MAX_LENGTH:
        return frozenset()
    found, _ = candidates(name)
    return frozenset(one.target for one in found if one.confidence >= _MIN_CONFIDENCE)


def _read_transposed(
    path: str, options: Mapping[str, Any], limits: Mapping[str, int], begun: Sequence[Piece]
) -> list[Piece] | None:
    """The pieces of the whole table without a header, if it is transposed."""
    head, first = begun[0], begun[1]
    if not isinstance(head, TableHead) or not isinstance(first, TableChunk):
        return None
    if len(first.rows) > _MAX_FIELDS or len(head.names) < _MIN_FIELDS:
        return None
    if not _are_fields([row[0] if row else "" for row in first.rows], least=1):
        return None
    if head.plan["format"] in _RECORDS:
        return None
    pieces = list(read_table(path, {**options, "header_row": 0}, limits))
    rows = [row for piece in pieces if isinstance(piece, TableChunk) for row in piece.rows]
    return pieces if is_transposed(rows) else None


def is_transposed(rows: Rows) -> bool:
    """Whether the first column contains the names of fields, and the first row does not."""
    filled = [row for row in rows if count_filled(row) > 1]
    if not _MIN_FIELDS <= len(filled) <= _MAX_FIELDS:
        return False
    labels = [row[0] for row in filled]
    if len(set(labels)) < len(labels) or not _are_fields(labels, least=_MIN_FIELDS):
        return False
    if not _NAMES & frozenset().union(*map(_fields, labels)):
        return False
    across = [cell for cell in filled[0][1:] if cell.strip()]
    return not any(map(_fields, across))


def _are_fields(labels: Sequence[str], least: int) -> bool:
    known = sum(1 for label in labels if _fields(label))
    return known >= least and 2 * known > len(labels)


def _transpose(pieces: Sequence[Piece]) -> Iterator[Piece]:
    head, end = pieces[0], pieces[-1]
    assert isinstance(head, TableHead)
    assert isinstance(end, TableEnd)
    rows = [row for piece in pieces if isinstance(piece, TableChunk) for row in piece.rows]
    rows = [row for row in rows if count_filled(row) > 1]
    width = max(map(len, rows))
    columns = list(zip(*([*row, *[""] * (width - len(row))] for row in rows), strict=True))
    names, products = list(columns[0]), [list(one) for one in columns[1:] if count_filled(one)]
    detected = dict(head.detected)
    if detected:
        told = "The table is transposed: each row was a field, each column a product"
        detected["ambiguities"] = [*detected.get("ambiguities", ()), told]
        detected["header"] = names
    yield TableHead(
        {**head.plan, SHAPE: _TRANSPOSED}, unique_names(names), detected, head.bytes_total
    )
    yield TableChunk(products, head.bytes_total)
    yield end._replace(rows=len(products), lines=())
