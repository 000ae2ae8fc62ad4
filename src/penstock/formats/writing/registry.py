"""All formats that rows can be written in, by file extension."""

from __future__ import annotations

from penstock.formats.writing.text_formats import CsvPages, JsonPages, NdjsonPages
from penstock.formats.writing.xlsx import XlsxPages
from penstock.model.export import Pages

FORMATS: dict[str, type[Pages]] = {
    one.extension: one for one in (CsvPages, XlsxPages, JsonPages, NdjsonPages)
}
