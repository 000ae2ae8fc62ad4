"""Every format that rows can be written in, by the ending of its file's name."""

from __future__ import annotations

from penstock.formats.writing.text_formats import CsvPages, JsonPages, NdjsonPages
from penstock.formats.writing.xlsx import XlsxPages
from penstock.model.export import Pages

FORMATS: dict[str, type[Pages]] = {
    one.extension: one for one in (CsvPages, XlsxPages, JsonPages, NdjsonPages)
}
