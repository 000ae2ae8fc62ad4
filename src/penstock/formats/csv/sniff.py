"""Detect the dialect of a text by how well each candidate splits it into a table.

A candidate's score is how consistently it splits the lines into the same number of cells, times how
much the cells look like whole values. A text that no candidate splits well is a single column.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from penstock.formats.csv.dialect import (
    SPACES,
    UNIT,
    Dialect,
    cells_up_to,
    is_rule,
    unwrapped,
    with_plain_bars,
)
from penstock.formats.csv.fixed_width import find_positions, gaps_of_widths
from penstock.formats.csv.lenient import SearchBudget, repair_record
from penstock.formats.read_options import ReadOptions, wrong_option
from penstock.formats.structure.cell_kinds import CODE, EMPTY, TEXT, TYPED, is_blank, kind_of

SAMPLE_CHARS = 48 * 1024
SAMPLE_ROWS = 400
# Prior weights, for delimiters that occur equally often.
DELIMITERS = {
    ",": 1.0, ";": 1.0, "\t": 1.0, "|": 0.98, "^": 0.8, "~": 0.8, "\x01": 0.9, "\x1f": 0.9,
    "¦": 0.9, "§": 0.8, "#": 0.5, ":": 0.62, " ": 0.62, "*": 0.4, "!": 0.4, "/": 0.3, "_": 0.2,
    "-": 0.2, "=": 0.3, "&": 0.4, "，": 0.9, "；": 0.9, "؛": 0.9, "،": 0.8,
}  # fmt: skip
SEVERAL = (SPACES, "||", "|~|", "~|~", "::", ";;", "\t|\t", "@@", "##", "^^", "#|#", "<>", "~~")
_STRONG = ",;\t|"
# The delimiter of single-column texts: a character that texts do not contain.
NO_DELIMITER = "\x1e"
# Colons that are not delimiters: those of times and URLs.
_CLOCK = re.compile(r"(?<=\d):(?=[0-5]\d)|:(?=//)")
_DECIMAL = re.compile(r"\d,\d{1,3}(?=\s|$)")
_QUOTES = ('"', "'")
_SEP_LINE = re.compile(r'\ufeff?"?sep=(.{1,3}?)"?\r?\n?', re.IGNORECASE)
# Quotes left at the ends of a cell.
_LEFTOVER = re.compile(r"""["'].*|[^"']*["']""", re.DOTALL)
# A rare delimiter counts fully if it splits more than a few lines into as many equal cells.
_RARE, _MANY, _CLEAR_PRIOR = "#^~¦§:", 3, 0.97
# A doubled delimiter is none where more than a few cells keep one half of it.
_DOUBLED, _HALVES, _HALVED = frozenset(("||", ";;", "::", "~~", "^^", "##")), 0.02, 0.5
# Two candidates this close are both reported.
_CLOSE = 0.9
_MAX_DIGITS = 20


class Candidate(NamedTuple):
    dialect: Dialect
    score: float
    width: int


class SniffResult(NamedTuple):
    """``others`` are delimiters with about the same score."""

    dialect: Dialect
    width: int
    score: float
    others: tuple[str, ...] = ()


def sep_line(text: str) -> str | None:
    """The delimiter in a first line ``sep=;``."""
    first = text.split("\n", 1)[0]
    match = _SEP_LINE.fullmatch(first + "\n") if len(first) < 16 else None
    return match[1].replace("\\t", "\t") if match else None


def sniff(text: str, options: ReadOptions) -> SniffResult:
    lines = _sample(text)
    told = options.delimiter or sep_line(text)
    if sep_line(text) is not None:
        lines = lines[1:]
    bars = [with_plain_bars(line) for line in lines]
    is_drawn = lines_are_ruled(bars) or _are_between_bars(bars)
    if told in (None, "|") and options.quote is None and is_drawn:
        drawn = _scored(bars, Dialect("|", "", ruled=True))
        if drawn.width > 1:
            return SniffResult(drawn.dialect, drawn.width, 1.0)
    if placed := _placed(lines, options):
        return placed
    delimiters = [told] if told else _possible(lines)
    found = [
        _scored(lines, dialect)
        for delimiter in delimiters
        for dialect in _dialects(lines, delimiter, options)
    ]
    if not told:
        found.append(_single_column(lines, options))
        found += _by_position(lines, options)
    found.sort(key=lambda candidate: -candidate.score)
    best = _with_padded_marks(_with_aligned_header(found[0], lines), lines)
    if best.width == 1 and not told and not lines_are_wrapped(lines):
        return SniffResult(_with_defaults(best.dialect, lines, options), 1, best.score)
    if best.width == 1 and not told:
        inner = sniff("".join(map(unwrapped, lines)), options)
        if inner.width > 1:
            return inner._replace(dialect=replace(inner.dialect, wrapped=True))
    others = {
        candidate.dialect.delimiter
        for candidate in found[1:]
        if candidate.score > _CLOSE * best.score
        and candidate.width > 1
        and not candidate.dialect.gaps
    } - {best.dialect.delimiter}
    return SniffResult(_with_defaults(best.dialect, lines, options), best.width, best.score,
                   tuple(sorted(others)))  # fmt: skip


def _with_padded_marks(best: Candidate, lines: Sequence[str]) -> Candidate:
    """A mark with blanks around it, `steel      , for wood, not stone`, where columns were split at
    runs of blanks and every further cell begins with the mark."""
    if best.dialect.delimiter != SPACES or best.width < 2:
        return best
    cells = [cell for row in parse_sample(lines, best.dialect) for cell in row[1:] if cell.strip()]
    for mark in ",;|":
        if cells and all(cell.startswith(f"{mark} ") for cell in cells):
            padded = Dialect(f" {mark} ", "")
            return Candidate(padded, best.score, best.width)
    return best


def _with_aligned_header(best: Candidate, lines: Sequence[str]) -> Candidate:
    """Columns by position instead of by runs of blanks, where names of the header have one blank
    between them: `kind grade` above two right-aligned columns."""
    runs_of_blanks = len(best.dialect.delimiter) > 1 and not best.dialect.delimiter.strip(" ")
    if not runs_of_blanks or len(parse_sample(lines[:1], best.dialect)[0]) >= best.width:
        return best
    header, body = lines[0].expandtabs(), find_positions(lines[1:])
    gaps = [] if body is None else [
        next(((at, at + 1) for at in range(start, end) if header[at : at + 1] == " "), None)
        for start, end in body.gaps
    ]  # fmt: skip
    narrowed = tuple(gap for gap in gaps if gap is not None)
    if len(narrowed) != len(gaps) or len(gaps) + 1 != best.width:
        return best
    return Candidate(Dialect(UNIT, "", gaps=narrowed), best.score, best.width)


def _placed(lines: Sequence[str], options: ReadOptions) -> SniffResult | None:
    """Fixed-width columns, if the caller asks for them."""
    if options.widths is not None:
        gaps = gaps_of_widths(options.widths)
        return SniffResult(Dialect(UNIT, "", gaps=gaps), len(gaps) + 1, 1.0)
    if options.format != "fixed":
        return None
    found = find_positions(lines)
    if found is None:
        raise wrong_option("format", "fixed", "the lines share no blanks: set the `widths`")
    return SniffResult(Dialect(UNIT, "", gaps=found.gaps), len(found.gaps) + 1, 1.0)


def _by_position(lines: Sequence[str], options: ReadOptions) -> list[Candidate]:
    """Fixed-width columns as a candidate: shared blanks weigh less than delimiters, an underlined
    header weighs more."""
    if options.format is not None or options.quote is not None:
        return []
    filled = [line for line in lines if line.strip()]
    if sum("\t" in line.strip() for line in filled) > 0.8 * len(filled):
        # Tabs in most lines are delimiters, even if the lines have different numbers of them.
        return []
    positions = find_positions(lines)
    if positions is None:
        return []
    if positions.sure:
        return [Candidate(Dialect(UNIT, "", gaps=positions.gaps), 2.0, len(positions.gaps) + 1)]
    return [_scored(lines, Dialect(UNIT, "", gaps=positions.gaps))]


def lines_are_wrapped(lines: Sequence[str]) -> bool:
    """Whether each whole line is in quotes, but perhaps the header."""
    filled = [line.strip() for line in lines if line.strip()]
    if len(filled) > 2 and '"' not in filled[0] and any(mark in filled[0] for mark in _STRONG):
        del filled[0]
    wrapped = [line for line in filled if len(line) > 2 and line[0] == line[-1] == '"']
    marks = [any(mark in line for mark in _STRONG) for line in wrapped]
    return len(wrapped) >= 2 and len(wrapped) == len(filled) and all(marks)


def _are_between_bars(lines: Sequence[str]) -> bool:
    """Whether each line begins and ends with a bar and has others inside: `|id|name|`."""
    filled = [line.strip() for line in lines if line.strip()]
    return len(filled) > 1 and all(
        line[0] == line[-1] == "|" and line.count("|") > 2 and "||" not in line for line in filled
    )


def lines_are_ruled(lines: Sequence[str]) -> bool:
    """Whether the table is drawn, as in Markdown or a database client."""
    places = [n for n, line in enumerate(lines) if "|" in line and not is_rule(line)]
    rules = [n for n, line in enumerate(lines) if is_rule(line)]
    if len(places) < 2 or not rules:
        return False
    if any("|" in lines[n] and {n - 1, n + 1} <= set(places) for n in rules):
        # Markdown, with text around the table.
        return True
    inside = [line for line in lines[places[0] : places[-1] + 1] if line.strip()]
    drawn = sum("|" in line or is_rule(line) for line in inside)
    return drawn >= 0.8 * len(inside) and any(n - 1 in places or n + 1 in places for n in rules)


def _with_defaults(dialect: Dialect, lines: Sequence[str], options: ReadOptions) -> Dialect:
    """Quotes may occur after the sample, so they are enabled by default."""
    if options.quote is None and not dialect.quote and not any('"' in line for line in lines):
        return replace(dialect, quote='"')
    return dialect


def _sample(text: str) -> list[str]:
    sample = text[:SAMPLE_CHARS].replace("\0", "\ufffd")
    lines = list(io.StringIO(sample, newline=""))
    if len(text) > len(sample) and len(lines) > 1:
        lines.pop()
    lines = lines[:SAMPLE_ROWS]
    plain = [line for line in lines if not line.startswith(("#", "//"))]
    return plain if len(plain) >= max(2, 0.6 * len(lines)) else lines


def _possible(lines: Sequence[str]) -> list[str]:
    """Delimiters that occur in more than a few lines."""
    filled = _joined_lines([line for line in lines if line.strip()])
    joined = "".join(filled)
    enough = max(1, len(filled) // 5)

    def common(mark: str) -> bool:
        if len(filled) < 2 and mark not in _STRONG:
            return False
        if mark == ":" and len(_CLOCK.findall(joined)) >= 0.8 * joined.count(":"):
            return False
        if mark == "," and _is_decimal(filled):
            return False
        return mark in joined and sum(mark in line for line in filled) >= enough

    return [mark for mark in (*DELIMITERS, *SEVERAL) if common(mark)]


def _joined_lines(lines: Sequence[str]) -> Sequence[str]:
    """Lines joined while a double quote is open, so that cells of many lines count once. Unchanged
    if a quote is never closed."""
    if not any('"' in line for line in lines):
        return lines
    records: list[str] = []
    is_open = False
    for line in lines:
        if is_open:
            records[-1] += line
        else:
            records.append(line)
        is_open ^= line.count('"') % 2 == 1
    return lines if is_open and len(records) < 2 else records


def _is_decimal(lines: Sequence[str]) -> bool:
    """Whether commas are decimal marks in aligned columns."""
    if sum("  " in line.strip() for line in lines) < 0.8 * len(lines):
        return False
    commas = sum(line.count(",") for line in lines)
    return sum(len(_DECIMAL.findall(line)) for line in lines) >= 0.8 * commas


def _dialects(lines: Sequence[str], delimiter: str, options: ReadOptions) -> Iterable[Dialect]:
    """Dialects with the quotes and escapes that occur in the text."""
    text = "".join(lines)
    quotes: Sequence[str]
    if options.quote is not None:
        quotes = (options.quote,)
    else:
        quotes = [quote for quote in _QUOTES if _opens_cells(text, delimiter, quote)] or ('"',)
        if '"' in text and text.count('"') % 2:
            quotes = (*quotes, "")
    for quote in quotes:
        escape = options.escape
        if escape is None:
            escape = "\\" if quote and _escapes(text, quote, delimiter) else ""
        yield Dialect(delimiter, quote, escape)
        if not escape and options.escape is None and f"\\{delimiter}" in text:
            yield Dialect(delimiter, quote, "\\")
        if quote and delimiter != " " and f"{delimiter} {quote}" in text:
            yield Dialect(delimiter, quote, escape, skip_space=True)


def _opens_cells(text: str, delimiter: str, quote: str) -> bool:
    mark, cut = re.escape(quote), re.escape(delimiter)
    # Of single quotes, `''` is an empty cell of a file that may quote others differently.
    after = "" if quote == '"' else f"(?!{mark})"
    opens = len(re.findall(rf"(?:^|{cut})[ ]*{mark}{after}", text, re.MULTILINE))
    closes = len(re.findall(rf"{mark}[ ]*(?:{cut}|\r?$)", text, re.MULTILINE))
    if quote == '"':
        return opens > 0
    return opens > 0 and closes > 0 and min(opens, closes) >= 0.5 * max(opens, closes)


def _escapes(text: str, quote: str, delimiter: str) -> bool:
    """A backslash is an escape if it precedes a quote that does not end its cell."""
    inside = text.count("\\" + quote)
    if not inside:
        return False
    ends = len(re.findall(rf"\\{re.escape(quote)}(?={re.escape(delimiter)}|\r?\n|$)", text))
    doubled_after = text.count("\\" + quote * 2)
    # `"10\"",`: an escaped quote, then the one that closes the cell.
    mark = re.escape(quote)
    closing = len(re.findall(rf"\\{mark}{mark}(?={re.escape(delimiter)}|\r?\n|$)", text))
    if closing:
        return inside - doubled_after + closing > ends
    return inside - doubled_after > ends or (inside > ends and not doubled_after)


def parse_sample(lines: Sequence[str], dialect: Dialect) -> list[list[str]]:
    """The records of a sample."""
    prepared = [dialect.prepared(line) for line in lines]
    rows: list[list[str]] = []
    at, budget = 0, SearchBudget()
    plain = replace(dialect, delimiter=dialect.cut)
    while at < len(prepared):
        reader = dialect.reader(prepared[at:], strict=True)
        done = 0
        try:
            for row in reader:
                rows.append(row)
                done = reader.line_num
        except csv.Error:
            width = Counter(map(len, rows)).most_common(1)[0][0] if rows else None
            mended = repair_record(prepared, at + done, plain, width, budget)
            rows.append(mended.cells)
            done += mended.lines
        at += done
        if len(rows) >= SAMPLE_ROWS:
            break
    return rows


def _scored(lines: Sequence[str], dialect: Dialect) -> Candidate:
    with cells_up_to(SAMPLE_CHARS):
        rows = [row for row in parse_sample(lines, dialect) if not is_blank(row)]
    width, consistent = _consistency(rows)
    if width < 2:
        return Candidate(dialect, 0.0, 1)
    body = [row for row in rows if len(row) == width]
    quality = _quality(body, dialect)
    prior = DELIMITERS.get(dialect.delimiter, 0.97)
    if dialect.delimiter in _RARE and width > _MANY and consistent == 1.0 and len(body) > _MANY:
        prior = _CLEAR_PRIOR
    if _is_halved(body, dialect.delimiter):
        prior = _HALVED
    more_columns = 1 - 0.35 / width
    swallowed = sum(cell.count("\n") for row in body for cell in row) / max(len(lines), 1)
    score = consistent**2 * quality * more_columns * prior * (1 - 0.3 * min(1, swallowed))
    return Candidate(dialect, score if dialect.quote or dialect.gaps else 0.93 * score, width)


def _is_halved(body: Sequence[Sequence[str]], delimiter: str) -> bool:
    """Whether an odd number of marks stands between cells: empty columns, not a doubled mark."""
    if delimiter not in _DOUBLED:
        return False
    cells = [cell.strip() for row in body for cell in row]
    halves = sum(cell.startswith(delimiter[0]) or cell.endswith(delimiter[0]) for cell in cells)
    return halves > _HALVES * len(cells)


def _consistency(rows: Sequence[Sequence[str]]) -> tuple[int, float]:
    """The most frequent number of cells, and its share. Other lines count little above and below
    the table, and fully inside it."""
    counts = Counter(map(len, rows))
    best_width, best = 1, 0.0
    for width, count in counts.items():
        if width < 2:
            continue
        places = [index for index, row in enumerate(rows) if len(row) == width]
        first, last = places[0], places[-1]
        inside = last - first + 1 - count
        outside = len(rows) - (last - first + 1)
        # A few lines of equal width among many others are not a table.
        share = count / (count + inside + (0.12 if count > 2 else 0.6) * outside)
        value = share * (1 - 0.5 / width)
        if value > best:
            best_width, best = width, value
    return best_width, best / (1 - 0.5 / best_width) if best else 0.0


def _quality(body: Sequence[Sequence[str]], dialect: Dialect) -> float:
    """How much the cells look like values, of one kind per column."""
    cells = [cell for row in body[:200] for cell in row]
    looks = sum(_look(cell, dialect) for cell in cells) / max(len(cells), 1)
    empty = sum(not any(cell.strip() for cell in column) for column in zip(*body, strict=True))
    hollow = 1 - 0.5 * empty / len(body[0])
    return hollow * (0.7 * looks + 0.3 * _homogeneity(body[1:200] or body))


def _look(cell: str, dialect: Dialect) -> float:
    kind = kind_of(cell)
    if kind in TYPED or kind == EMPTY:
        return 1.0
    if _LEFTOVER.fullmatch(cell.strip()) or cell.lstrip().startswith((", ", "; ")):
        return 0.2
    if kind == CODE:
        return 0.95
    strong = sum(mark in cell for mark in _STRONG if mark != dialect.delimiter)
    if strong:
        # Commas in sentences are followed by a space.
        tight = any(
            re.search(rf"\S{re.escape(mark)}\S", cell)
            for mark in _STRONG
            if mark != dialect.delimiter and mark in cell
        )
        return 0.35 if tight else 0.8
    return 0.9


def _homogeneity(body: Sequence[Sequence[str]]) -> float:
    if not body:
        return 0.0
    total = 0.0
    for column in zip(*body, strict=True):
        kinds = Counter(kind_of(cell) for cell in column)
        empty = kinds.pop(EMPTY, 0)
        usual = max(kinds.values(), default=0)
        total += (usual + 0.8 * empty) / len(column)
    return total / len(body[0])


def _single_column(lines: Sequence[str], options: ReadOptions) -> Candidate:
    """The whole line as one cell: likely if lines are values, less if they are text."""
    quote = '"' if options.quote is None else options.quote
    dialect = Dialect(",", quote, options.escape or "")
    values = [line.strip().strip('"') for line in lines if line.strip()]
    if not values:
        return Candidate(dialect, 0.0, 1)
    typed = sum(kind_of(value) in TYPED and not _is_glued(value) for value in values)
    if typed >= 0.6 * len(values) and _whole(values[0]) > 0.3:
        sure = 1.6
    else:
        sure = sum(map(_whole, values)) / len(values)
    return Candidate(replace(dialect, delimiter=NO_DELIMITER), 0.5 * sure, 1)


def _is_glued(value: str) -> bool:
    """Whether it has more digits than any number."""
    return len(value) > _MAX_DIGITS and value.isdigit()


def _whole(value: str) -> float:
    """How much a line looks like one cell."""
    kind = kind_of(value)
    if kind in (CODE, TEXT) and not any(mark in value for mark in _STRONG):
        return 1.0
    tight = any(re.search(rf"\S{re.escape(mark)}\S", value) for mark in _STRONG)
    return 0.3 if tight else 0.5
