"""Options of a reading, and its report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from penstock.model.errors import BadInput
from penstock.model.text.encodings import is_text_encoding
from penstock.model.transfer import transferable

Format = Literal[
    "csv", "fixed", "blocks", "xlsx", "xlsb", "xls", "ods", "json", "ndjson", "xml", "xml2003",
    "html",
]  # fmt: skip
FORMATS: tuple[Format, ...] = (
    "csv", "fixed", "blocks", "xlsx", "xlsb", "xls", "ods", "json", "ndjson", "xml", "xml2003",
    "html",
)  # fmt: skip
# Entries of preamble, footer, problems and the like in a report.
MAX_SHOWN = 50
_MAX_SHOWN_LENGTH = 200


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Settings that override detection. Lines and rows count from 1."""

    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    escape: str | None = None
    sheet: str | int | None = None
    header_row: int | None = None  # 0: there is none
    skip_rows: int | None = None
    records_path: str | None = None
    member: str | int | None = None  # of an archive that holds several files
    widths: str | None = None  # of columns by position: "10,25,3"

    @property
    def cuts_lines(self) -> bool:
        """Whether the options say how lines are split or where the table starts."""
        told = (self.delimiter, self.widths, self.header_row, self.skip_rows)
        return any(one is not None for one in told)

    @staticmethod
    def of(given: Mapping[str, Any]) -> ReadOptions:
        return ReadOptions(**{name.name: given.get(name.name) for name in fields(ReadOptions)})

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


@transferable
@dataclass(slots=True)
class Problem:
    """A problem at one position of the file, and how it was handled."""

    code: str
    line: int
    message: str
    # Counted from 1. ``row`` is the item number; None if the position belongs to no row or to
    # several.
    column: int | None = None
    row: int | None = None


@dataclass(slots=True)
class ReadReport:
    """The report. Each finding can be overridden by the option of the same name."""

    format: str
    container: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quote: str | None = None
    escape: str | None = None
    widths: str | None = None
    newline: str | None = None
    comment: str | None = None
    sheet: str | None = None
    sheets: list[dict[str, Any]] = field(default_factory=list)
    records_path: str | None = None
    header_rows: list[int] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    preamble: list[dict[str, Any]] = field(default_factory=list)
    footer: list[dict[str, Any]] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[int] = field(default_factory=list)
    shown_with: dict[str, str] = field(default_factory=dict)
    other_tables: list[dict[str, Any]] = field(default_factory=list)
    ambiguities: list[str] = field(default_factory=list)
    confidence: float = 1.0

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def doubt(self, what: str, confidence: float) -> None:
        """Add an ambiguity; the report's confidence is that of its weakest finding."""
        self.ambiguities.append(what)
        self.confidence = round(min(self.confidence, confidence), 2)


def shown_line(number: int, text: str) -> dict[str, Any]:
    return {"line": number, "text": text.strip()[:_MAX_SHOWN_LENGTH]}


def check_options(options: ReadOptions) -> None:
    """Raise BadInput for options that can never be right."""
    if options.format is not None and options.format not in FORMATS:
        raise wrong_option("format", options.format, f"known are {', '.join(FORMATS)}")
    for name in ("delimiter", "quote", "escape"):
        value = getattr(options, name)
        if value is not None and (len(value) > 1 or value in "\r\n") and not _may_be(name, value):
            raise wrong_option(name, value, "it must be one character")
    if options.delimiter is not None and options.delimiter == options.quote:
        raise wrong_option("delimiter", options.delimiter, "it is the same as the quote")
    for name in ("header_row", "skip_rows"):
        value = getattr(options, name)
        if value is not None and value < 0:
            raise wrong_option(name, value, "it must not be negative")
    if options.encoding is not None:
        check_encoding(options.encoding)


def check_encoding(name: str) -> None:
    if not is_text_encoding(name):
        raise wrong_option("encoding", name[:100], "there is no such text encoding")


def _may_be(name: str, value: str) -> bool:
    """Quote and escape may be empty; a delimiter may have several characters."""
    if name == "delimiter":
        return 1 < len(value) <= 8 and not set(value) & set("\r\n\"'")
    return value == ""


def wrong_option(name: str, value: object, why: str) -> BadInput:
    return BadInput("INVALID_PARAMETERS", f"{name} {value!r}: {why}", option=name)
