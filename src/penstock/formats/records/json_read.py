"""Read JSON and NDJSON as tables: find the list of records; its keys are the columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.formats.detection.encodings import marked_encoding
from penstock.formats.read_options import Problem, ReadOptions, ReadReport
from penstock.formats.records.flatten import (
    IDENTITY,
    RECORD_NAMES,
    VALUE,
    Number,
    flattened,
    text_of,
)
from penstock.formats.records.json_columns import column_names, is_numbered, rows_by_columns
from penstock.formats.records.json_text import DECODER, JsonText, check_text, depth_of, invalid
from penstock.formats.records.rows import Columns, rows_of_records
from penstock.formats.source import Source
from penstock.formats.structure.cell_kinds import unique_names
from penstock.formats.structure.headers import find_header
from penstock.formats.tables import Chunks, Cursor, Piece, Problems, TableEnd, TableHead
from penstock.model.errors import BadInput

_DEEPEST_LIST = 5
_HEAD_RECORDS = 200


@dataclass(slots=True)
class _List:
    """A list of records somewhere in the document; ``keyed``: the records are members of an
    object."""

    path: tuple[str, ...]
    columns: Columns
    keyed: bool = False
    several: bool = False  # not a list, but consecutive objects
    count: int = 0
    lists: int = 0
    objects: int = 0
    head: list[list[str]] = field(default_factory=list)

    def see(self, record: Any) -> None:
        self.count += 1
        if isinstance(record, list):
            self.lists += 1
            if len(self.head) < _HEAD_RECORDS:
                self.head.append([text_of(cell) for cell in record])
        self.objects += isinstance(record, dict)
        self.columns.see(flattened(record))


@dataclass(slots=True)
class _Survey:
    lists: list[_List] = field(default_factory=list)
    objects: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)
    # Objects whose members are columns, with the names of those.
    tables: dict[tuple[str, ...], list[str]] = field(default_factory=dict)


def read_json(
    source: Source, options: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    encoding = options.encoding or marked_encoding(source.head(4096)) or "utf-8-sig"
    told: dict[str, Any] = {}
    if cursor is None:
        plan, detected = _plan(source, encoding, options, limits)
        told = detected.as_json()
    else:
        plan = dict(cursor["plan"])
    yield TableHead(plan, unique_names(plan["header"]), told, source.size)
    chunks = Chunks(limits, cursor["rows"] if cursor else 0)
    problems = Problems(by_row=True)
    for rows in rows_of_records(_records(source, plan, limits), plan, limits, problems):
        yield from chunks.add(rows, source.size, problems=problems.taken())
    yield from chunks.rest(source.size)
    yield TableEnd(chunks.seen, [], problems.shown(), problems.total)


def _plan(
    source: Source, encoding: str, options: ReadOptions, limits: Mapping[str, int]
) -> tuple[dict[str, Any], ReadReport]:
    survey = _survey(source, encoding, limits)
    shown = encoding.removesuffix("-sig") if encoding == "utf-8-sig" else encoding
    report = ReadReport("json", encoding=shown)
    plan: dict[str, Any] = {"format": "json", "encoding": encoding, "skip": 0, "arrays": False}
    table = _table_by_columns(survey, options)
    if table is not None:
        names = survey.tables[table]
        report.records_path = ".".join(table) or "(the document itself)"
        plan |= {"path": list(table), "single": True, "by_columns": names, "arrays": True}
        plan |= {"columns": [str(n) for n in range(len(names))], "header": names}
        report.header = names
        return plan, report
    chosen = _choose_records(survey, options, report)
    if isinstance(chosen, _List):
        itself = "(the document itself)" if chosen.keyed else "(the list itself)"
        report.records_path = ".".join(chosen.path) or itself
        plan |= {"path": list(chosen.path), "single": False, "columns": chosen.columns.names}
        plan |= {"keyed": chosen.keyed, "several": chosen.several}
        plan["header"] = plan["columns"]
        if chosen.count and chosen.lists == chosen.count:
            _plan_arrays(plan, chosen, survey, options, report)
    else:
        record = survey.objects[chosen]
        report.records_path = ".".join(chosen) or "(the document itself)"
        columns = Columns(limits)
        columns.see(flattened(record))
        plan |= {"path": list(chosen), "single": True, "columns": columns.names}
        plan["header"] = plan["columns"]
    report.header = plan["header"]
    return plan, report


def _table_by_columns(survey: _Survey, options: ReadOptions) -> tuple[str, ...] | None:
    """The object whose members are the columns of the table, if no list of records is larger."""
    asked = options.records_path
    if asked is not None:
        path = tuple(part for part in asked.replace("$", "").split(".") if part)
        return path if path in survey.tables else None
    if not survey.tables or any(found.objects or found.lists for found in survey.lists):
        return None
    return max(survey.tables, key=lambda path: len(survey.tables[path]))


def _plan_arrays(
    plan: dict[str, Any], chosen: _List, survey: _Survey, options: ReadOptions, report: ReadReport
) -> None:
    """A list of lists is a table without keys: its first row may be the header."""
    width = max(map(len, chosen.head), default=0)
    names = _names_beside(survey, chosen.path, width)
    skip = 0
    if options.header_row != 0 and not names:
        names = find_header(chosen.head, 0, len(chosen.head), width, ()).names
        skip = 1 if names else 0
    plan |= {"arrays": True, "skip": skip, "columns": [str(n) for n in range(width)]}
    plan["header"] = names + [""] * (width - len(names))
    report.header_rows = [1] if skip else []


def _names_beside(survey: _Survey, path: tuple[str, ...], width: int) -> list[str]:
    """Column names in a list beside the rows: `{"columns": ["sku", "price"], "rows": [["A", 1]]}`.
    The list may contain objects, each with a name."""
    for name, value in survey.objects.get(path[:-1], {}).items() if path else ():
        if name == path[-1] or not isinstance(value, list) or len(value) != width:
            continue
        names = [one.get("name") if isinstance(one, dict) else one for one in value]
        if all(isinstance(one, str) and not isinstance(one, Number) for one in names):
            return [str(one) for one in names]
    return []


def _survey(source: Source, encoding: str, limits: Mapping[str, int]) -> _Survey:
    """One pass over the whole document: all lists of records, and the objects around them."""
    survey = _Survey()
    with source.text(encoding, "strict") as file:
        text = JsonText(file, limits["nesting"])
        _survey_value(text, (), survey, limits)
        if text.peek() == "{" and () in survey.objects:
            survey = _sequence(text, survey.objects[()], limits)
        text.end()
    return survey


def _sequence(text: JsonText, first: dict[str, Any], limits: Mapping[str, int]) -> _Survey:
    """Consecutive objects without a list around them."""
    found = _List((), Columns(limits), several=True)
    found.see(first)
    while text.peek() == "{":
        found.see(text.value())
    return _Survey([found])


def _survey_value(
    text: JsonText, path: tuple[str, ...], survey: _Survey, limits: Mapping[str, int]
) -> Any:
    """The value, with lists only counted."""
    match text.peek():
        case "[":
            found = _List(path, Columns(limits))
            first: list[Any] = []
            for element in text.elements():
                found.see(element)
                if len(first) < _HEAD_RECORDS:
                    first.append(element)
            survey.lists.append(found)
            return first
        case "{" if len(path) < _DEEPEST_LIST:
            return _survey_object(text, path, survey, limits)
    value = text.value()
    if not path:
        survey.lists.append(_List((), Columns(limits)))
        survey.lists[-1].see(value)
    return value


def _survey_object(
    text: JsonText, path: tuple[str, ...], survey: _Survey, limits: Mapping[str, int]
) -> dict[str, Any]:
    """The object, unless its members are records, which are only counted."""
    members: dict[str, Any] = {}
    keyed: _List | None = None
    for name in text.members():
        if keyed is not None:
            keyed.see(_with_key(name, text.value()))
            continue
        members[name] = _survey_value(text, (*path, name), survey, limits)
        if len(members) == _HEAD_RECORDS and _are_records(members):
            keyed = _keyed(path, members, survey, limits)
    if keyed is None and is_numbered(members):
        survey.tables[path] = list(members)
        survey.lists = [one for one in survey.lists if one.path[: len(path)] != path]
    elif keyed is None and _are_records(members):
        _keyed(path, members, survey, limits)
    elif keyed is None and not _is_product(members):
        lists = [one for one in survey.lists if one.path and one.path[:-1] == path]
        counts = {one.path[-1]: one.count for one in lists}
        if names := column_names(members, counts):
            survey.tables[path] = names
    survey.objects[path] = members
    return members


def _are_records(members: Mapping[str, Any]) -> bool:
    """Whether all members are objects with mostly the same keys."""
    records = list(members.values())
    if len(records) < 2 or not all(isinstance(record, dict) and record for record in records):
        return False
    names = Counter(name for record in records for name in record)
    return 3 * names.total() >= 2 * len(names) * len(records)


def _keyed(
    path: tuple[str, ...], members: Mapping[str, Any], survey: _Survey, limits: Mapping[str, int]
) -> _List:
    """The members as one list, instead of the lists inside them."""
    inside = len(path)
    survey.lists = [found for found in survey.lists if found.path[:inside] != path]
    survey.objects = {at: one for at, one in survey.objects.items() if at[:inside] != path}
    found = _List(path, Columns(limits), keyed=True)
    for name, record in members.items():
        found.see(_with_key(name, record))
    survey.lists.append(found)
    return found


def _with_key(name: str, record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        return {"key": name, VALUE: record}
    return {"_key" if "key" in record else "key": name, **record}


def _choose_records(
    survey: _Survey, options: ReadOptions, report: ReadReport
) -> _List | tuple[str, ...]:
    if options.records_path is not None:
        return _list_at_given_path(survey, options.records_path)
    lists = [found for found in survey.lists if found.columns.cells or not survey.objects]
    record = _record(survey)
    # A list of words is not a list of records, however long it is.
    lists.sort(key=lambda found: (not found.objects and not found.lists, -found.columns.cells))
    named = [found for found in lists if found.path and found.path[-1].lower() in RECORD_NAMES]
    if record is not None and not (named and not _is_product(survey.objects[record])):
        return record
    if not lists:
        return ()
    best = (named or lists)[0]
    for other in lists:
        if other is not best and other.columns.cells >= 0.5 * best.columns.cells:
            where = ".".join(other.path) or "the list itself"
            report.doubt(f"the records could also be those at {where}", 0.6)
    return best


def _list_at_given_path(survey: _Survey, wanted: str) -> _List | tuple[str, ...]:
    path = tuple(part for part in wanted.replace("$", "").split(".") if part)
    for found in survey.lists:
        if found.path == path:
            return found
    if path in survey.objects:
        return path
    known = ", ".join(".".join(found.path) for found in survey.lists[:10] if found.path)
    raise BadInput(
        "INVALID_PARAMETERS", f"records_path {wanted!r}: there is no list of records; "
        f"lists are at {known or 'none'}", option="records_path",
    )  # fmt: skip


def _record(survey: _Survey) -> tuple[str, ...] | None:
    """The object that is the only record, without its wrappers."""
    path: tuple[str, ...] = ()
    while path in survey.objects:
        members = survey.objects[path]
        if _is_product(members):
            return path
        inner = [(*path, name) for name, value in members.items() if isinstance(value, dict)]
        if len(members) != 1 or len(inner) != 1:
            has_lists = any(found.path[: len(path)] == path for found in survey.lists)
            return None if has_lists else path
        path = inner[0]
    return None


def _is_product(members: Mapping[str, Any]) -> bool:
    plain = [name for name, value in members.items() if not isinstance(value, list | dict)]
    return len(plain) >= 3 and any(name.lower() in IDENTITY for name in plain)


def _records(source: Source, plan: Mapping[str, Any], limits: Mapping[str, int]) -> Iterator[Any]:
    with source.text(plan["encoding"], "strict") as file:
        text = JsonText(file, limits["nesting"])
        records = _at(text, plan["path"], plan["single"], plan.get("keyed", False))
        if plan.get("by_columns"):
            records = rows_by_columns(next(records, {}), plan["by_columns"])
        if plan.get("several"):
            records = _one_by_one(text)
        for number, record in enumerate(records):
            if number >= plan["skip"]:
                yield record


def _one_by_one(text: JsonText) -> Iterator[Any]:
    while text.peek():
        yield text.value()


def _at(text: JsonText, path: Sequence[str], single: bool, keyed: bool) -> Iterator[Any]:
    if not path and keyed:
        for name in text.members():
            yield _with_key(name, text.value())
        return
    if not path:
        if single or text.peek() != "[":
            yield text.value()
        else:
            yield from text.elements()
        return
    for name in text.members():
        if name == path[0]:
            yield from _at(text, path[1:], single, keyed)
            return
        text.value()


def read_ndjson(
    source: Source, options: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    encoding = options.encoding or marked_encoding(source.head(4096)) or "utf-8-sig"
    told: dict[str, Any] = {}
    if cursor is None:
        columns = Columns(limits)
        for record in _lines(source, encoding, limits, Problems()):
            columns.see(flattened(record))
        report = ReadReport("ndjson", encoding=encoding.removesuffix("-sig"), header=columns.names)
        plan: dict[str, Any] = {
            "format": "ndjson", "encoding": encoding, "arrays": False,
            "columns": columns.names, "header": columns.names,
        }  # fmt: skip
        told = report.as_json()
    else:
        plan = dict(cursor["plan"])
    yield TableHead(plan, unique_names(plan["header"]), told, source.size)
    chunks = Chunks(limits, cursor["rows"] if cursor else 0)
    problems = Problems()
    lines = _lines(source, plan["encoding"], limits, problems)
    for rows in rows_of_records(lines, plan, limits, problems):
        yield from chunks.add(rows, source.size)
    yield from chunks.rest(source.size)
    yield TableEnd(chunks.seen, [], problems.shown(), problems.total)


def _lines(
    source: Source, encoding: str, limits: Mapping[str, int], problems: Problems
) -> Iterator[Any]:
    """A line that is not JSON is a problem, unless most lines are not."""
    good = 0
    most = 16 * limits["cell_bytes"]
    with source.text(encoding, "replace") as file:
        number = 0
        while line := file.readline(most):
            number += 1
            if len(line) >= most:
                raise BadInput("CELL_TOO_LARGE", f"Line {number:,} is longer than {most:,} bytes")
            if not line.strip():
                continue
            try:
                record = _line(line.strip(), limits["nesting"])
            except BadInput as error:
                said = error.message.removeprefix("The JSON is not valid: ")
                problems.add(Problem("INVALID_JSON", number, f"Line {number:,}: {said}"))
                if problems.total > 10 and problems.total > good:
                    raise
                continue
            good += 1
            yield record
    if problems.total > good:
        raise invalid(problems.first[0].message)


def _line(line: str, nesting: int) -> Any:
    try:
        record = DECODER.decode(line)
    except RecursionError:
        raise invalid("it is nested too deeply") from None
    except ValueError as error:
        raise invalid(getattr(error, "msg", str(error))) from None
    if depth_of(record) > nesting:
        raise invalid(f"it is nested more than {nesting} deep")
    check_text(record)
    return record
