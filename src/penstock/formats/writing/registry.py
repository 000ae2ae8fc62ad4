"""All formats that rows can be written in, by file extension."""

from __future__ import annotations

from penstock.formats.writing.text_formats import CsvWriter, JsonWriter, NdjsonWriter
from penstock.formats.writing.xlsx import XlsxWriter
from penstock.model.export import RowWriter

FORMATS: dict[str, type[RowWriter]] = {
    one.extension: one for one in (CsvWriter, XlsxWriter, JsonWriter, NdjsonWriter)
}
