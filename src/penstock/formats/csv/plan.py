"""The plan for reading a text file: made once from its head, then kept in the cursor."""

from __future__ import annotations

import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from penstock.formats.csv.decimal_commas import find_split_amounts
from penstock.formats.csv.dialect import Dialect
from penstock.formats.csv.fixed_width_dense import has_glued_digits, has_padded_numbers
from penstock.formats.csv.prose import describe_prose
from penstock.formats.csv.records import Block, blocks_of
from penstock.formats.csv.sniff import (
    NO_DELIMITER,
    SAMPLE_CHARS,
    SAMPLE_ROWS,
    SniffResult,
    sep_line,
    sniff,
)
from penstock.formats.detection.content_type import refused
from penstock.formats.detection.encodings import (
    MIXED,
    Encoding,
    as_cp1252,
    find_encoding,
    read_c1_as_cp1252,
)
from penstock.formats.read_options import MAX_SHOWN, ReadOptions, ReadReport, shown_line
from penstock.formats.source import Source
from penstock.formats.structure.cell_kinds import is_blank
from penstock.formats.structure.layout import Layout, find_layout
from penstock.model.errors import BadInput

# Files up to this size are inspected as a whole, larger ones by their head.
WHOLE_CHARS = 2 * 1024 * 1024
HEAD_ROWS = 2000
_LOOKED_AT = 200
_COMMENTS = ("#", "//", "--", "%", ";")


@dataclass(frozen=True, slots=True)
class CsvPlan:
    """Lines count from 1. ``stop_line`` is set if the whole file was inspected; otherwise notes at
    the end are found while reading. ``split_amounts`` are columns whose decimal commas split their
    cells."""

    encoding: str
    errors: str
    dialect: dict[str, Any]
    header: list[str]
    width: int
    skip_lines: int
    stop_line: int | None = None
    comment: str | None = None
    repeats: bool = False
    page_lines: bool = False
    split_amounts: Sequence[int] = ()

    def as_json(self) -> dict[str, Any]:
        return {"format": "fixed" if self.dialect.get("gaps") else "csv", **asdict(self)}

    @staticmethod
    def of(kept: Mapping[str, Any]) -> CsvPlan:
        return CsvPlan(
            **{name: kept[name] for name in CsvPlan.__dataclass_fields__ if name in kept}
        )


@dataclass(slots=True)
class _Sample:
    """Rows of the head with their first lines, and the text."""

    text: str
    whole: bool
    rows: list[list[str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


def plan_csv(
    source: Source, options: ReadOptions, limits: Mapping[str, int]
) -> tuple[CsvPlan, ReadReport]:
    encoding = _encoding(source, options)
    sample = _head(source, encoding)
    if not sample.text.strip(' \t\r\n\ufeff,;|"'):
        raise BadInput("EMPTY_FILE", "The file is empty: send a header and at least one row.")
    offset = options.skip_rows or (1 if sep_line(sample.text) is not None else 0)
    sniffed = sniff(_without_lines(sample.text, options.skip_rows or 0), options)
    _check_for_prose(sample.text, sniffed, options)
    _read_sample(sample, sniffed, offset, limits)
    comment = _comment_of(sample, sniffed.width)
    layout = _layout(sample, options, comment)
    if not sample.rows or (layout.width == 0 and not layout.header.names):
        raise BadInput(
            "EMPTY_FILE", "The file contains no table: send a header and at least one row."
        )
    plan = _plan_of(sample, layout, sniffed, encoding, comment, limits)
    return plan, _report(plan, sample, layout, sniffed, encoding, options)


def _check_for_prose(text: str, sniffed: SniffResult, options: ReadOptions) -> None:
    """Skipped if the caller gave options for splitting."""
    if options.format is not None or options.cuts_lines:
        return
    seems = describe_prose(text[:SAMPLE_CHARS].splitlines()[:SAMPLE_ROWS], sniffed)
    if seems is not None:
        raise refused(f"{seems}, without a table; if it is one, set its `delimiter`")


def _encoding(source: Source, options: ReadOptions) -> Encoding:
    if options.encoding is None:
        return find_encoding(source)
    return Encoding(options.encoding, "replace")


def _head(source: Source, encoding: Encoding) -> _Sample:
    with source.text(encoding.name, encoding.errors) as file:
        text = file.read(WHOLE_CHARS + 1)
    if encoding.errors == MIXED:
        text = as_cp1252(text)
    text = read_c1_as_cp1252(text.removeprefix("\ufeff"))
    return _Sample(text[:WHOLE_CHARS], whole=len(text) <= WHOLE_CHARS)


def _without_lines(text: str, count: int) -> str:
    if not count:
        return text
    return "".join(itertools.islice(io.StringIO(text, newline=""), count, None))


def _read_sample(
    sample: _Sample, sniffed: SniffResult, offset: int, limits: Mapping[str, int]
) -> None:
    most = None if sample.whole else HEAD_ROWS
    blocks = blocks_of(
        io.StringIO(sample.text, newline=""), sniffed.dialect, width=sniffed.width,
        most_cell=limits["cell_bytes"], skip_lines=offset,
    )  # fmt: skip
    for block in blocks:
        check_columns(block, limits["columns"])
        sample.rows += block.rows
        sample.lines += map(block.line_of, range(len(block.rows)))
        if most is not None and len(sample.rows) > most:
            break
    if not sample.whole:
        # The last record may be incomplete.
        del sample.rows[HEAD_ROWS:], sample.lines[HEAD_ROWS:]


def check_columns(block: Block, most: int) -> None:
    if max(map(len, block.rows), default=0) > most:
        for index, row in enumerate(block.rows):
            if len(row) > most:
                line = block.line_of(index)
                raise BadInput(
                    "TOO_MANY_COLUMNS",
                    f"Line {line:,} has {len(row):,} cells; at most {most:,} are allowed",
                    line=line,
                )


def _comment_of(sample: _Sample, width: int) -> str | None:
    """The mark of comment lines: lines that start with it and have other cells than the rest."""
    for mark in _COMMENTS:
        marked = [row for row in sample.rows[:200] if row and row[0].lstrip().startswith(mark)]
        if marked and width > 1 and all(len(row) != width for row in marked):
            return mark
        if marked and width == 1 and len(marked) < 0.3 * len(sample.rows) and mark in "#//":
            return mark
    return None


def is_comment(row: Sequence[str], comment: str, width: int) -> bool:
    return bool(row) and row[0].lstrip().startswith(comment) and (len(row) != width or width == 1)


def _layout(sample: _Sample, options: ReadOptions, comment: str | None) -> Layout:
    rows = sample.rows
    if comment is not None:
        width = max((len(row) for row in rows), default=0)
        rows = [[] if is_comment(row, comment, width) else row for row in rows]
    if options.header_row:
        at = next((n for n, line in enumerate(sample.lines) if line >= options.header_row), None)
        if at is None:
            raise BadInput(
                "INVALID_PARAMETERS", f"header_row {options.header_row}: the file has no such line",
                option="header_row",
            )  # fmt: skip
        return find_layout(rows, header_at=at)
    return find_layout(rows, no_header=options.header_row == 0)


def _plan_of(
    sample: _Sample, layout: Layout, sniffed: SniffResult, encoding: Encoding, comment: str | None,
    limits: Mapping[str, int],
) -> CsvPlan:  # fmt: skip
    lines, width = sample.lines, layout.width
    if width > limits["columns"]:
        raise BadInput("TOO_MANY_COLUMNS", f"The table has {width:,} columns")
    names = [name[: limits["cell_bytes"]] for name in layout.header.names]
    split = _split_amounts(sample, layout, sniffed.dialect)
    width -= len(split)
    names = names[:width]
    stop = lines[layout.stop] if layout.stop < len(lines) else None
    first = lines[layout.start] if layout.start < len(lines) else None
    return CsvPlan(
        encoding.name, encoding.errors, sniffed.dialect.as_json(),
        names or [""] * width, width,
        skip_lines=(first or (lines[-1] + _lines_in(sample.rows[-1]))) - 1,
        stop_line=stop if sample.whole else None,
        comment=comment,
        repeats=layout.repeats,
        page_lines=layout.page_lines,
        split_amounts=split,
    )  # fmt: skip


def _split_amounts(sample: _Sample, layout: Layout, dialect: Dialect) -> list[int]:
    names = layout.header.names
    while names and not names[-1].strip():
        names = names[:-1]
    if dialect.delimiter != "," or layout.width <= len(names) or not names:
        return []
    rows = [row for row in sample.rows[layout.start : layout.stop] if not is_blank(row)]
    return find_split_amounts(names, rows)


def _lines_in(row: Sequence[str]) -> int:
    return 1 + sum(cell.count("\n") for cell in row)


def _report(
    plan: CsvPlan, sample: _Sample, layout: Layout, sniffed: SniffResult, encoding: Encoding,
    options: ReadOptions,
) -> ReadReport:  # fmt: skip
    dialect = sniffed.dialect
    single = sniffed.width == 1 and dialect.delimiter == NO_DELIMITER
    report = ReadReport(
        "fixed" if dialect.gaps else "csv",
        encoding=plan.encoding,
        delimiter=None if single or dialect.gaps else dialect.delimiter,
        widths=_widths(dialect),
        quote=dialect.quote or None,
        escape=dialect.escape or None,
        newline=_newline(sample.text),
        comment=plan.comment,
        header_rows=[sample.lines[n] for n in layout.header.rows],
        header=plan.header,
    )
    comments = _comments_above(sample, plan)
    report.preamble = _shown(sample, dialect, sorted({*layout.preamble, *comments}))
    report.footer = _shown(sample, dialect, layout.footer)
    report.other_tables = [
        {"from_line": sample.lines[a], "to_line": sample.lines[b - 1]} for a, b in layout.others
    ]
    if encoding.note:
        report.doubt(encoding.note, 0.7)
    if encoding.others and options.encoding is None:
        report.doubt(f"the encoding could also be {' or '.join(encoding.others)}", 0.7)
    for other in sniffed.others:
        report.doubt(f"the delimiter could also be {other!r}", 0.6)
    for said, confidence in layout.doubts:
        report.doubt(said, confidence)
    if plan.split_amounts:
        report.doubt(
            "decimal commas that are not in quotes were taken for part of the amounts", 0.8
        )
    if options.widths is None:
        _doubt_positions(report, dialect, sample.rows[layout.start : layout.stop][:_LOOKED_AT])
    beside = len(layout.preamble) + len(layout.footer)
    if dialect.ruled and beside >= layout.stop - layout.start:
        report.doubt(f"the table is inside a text, of which {beside:,} lines were left out", 0.6)
    if sniffed.score < 0.4 and not options.delimiter and not single:
        report.doubt("the lines have different numbers of cells", 0.5)
    return report


def _doubt_positions(report: ReadReport, dialect: Dialect, rows: Sequence[Sequence[str]]) -> None:
    """Report positions that were guessed from digits and words only."""
    glued = any(begin == end for begin, end in dialect.gaps)
    if glued:
        report.doubt(
            "columns that no blank parts were cut where digits and words meet; say the `widths` if "
            "they are others", 0.6,
        )  # fmt: skip
    if has_glued_digits(rows):
        report.doubt(
            "a column holds more digits than a number has, perhaps several values that nothing "
            "parts: say the `widths`", 0.5,
        )  # fmt: skip
    if glued and has_padded_numbers(rows):
        report.doubt(
            "numbers filled up with zeros have no decimal mark: amounts may be in cents", 0.5
        )


def _widths(dialect: Dialect) -> str | None:
    """In the form of the option `widths`, without the last column."""
    ends = [end for _, end in dialect.gaps]
    widths = [end - begin for begin, end in itertools.pairwise([0, *ends])]
    return ",".join(map(str, [*widths, 1])) if ends else None


def _comments_above(sample: _Sample, plan: CsvPlan) -> list[int]:
    if plan.comment is None:
        return []
    return [
        n for n, row in enumerate(sample.rows)
        if sample.lines[n] <= plan.skip_lines and is_comment(row, plan.comment, plan.width)
    ]  # fmt: skip


def _shown(sample: _Sample, dialect: Dialect, indices: Sequence[int]) -> list[dict[str, Any]]:
    return [
        shown_line(sample.lines[n], _mark(dialect).join(sample.rows[n]))
        for n in indices[:MAX_SHOWN]
        if not is_blank(sample.rows[n])
    ]


def _mark(dialect: Dialect) -> str:
    return " " if dialect.gaps else dialect.delimiter


def _newline(text: str) -> str | None:
    counts = {"\r\n": text.count("\r\n")}
    counts["\n"] = text.count("\n") - counts["\r\n"]
    counts["\r"] = text.count("\r") - counts["\r\n"]
    best = max(counts, key=lambda end: counts[end])
    return best if counts[best] else None
