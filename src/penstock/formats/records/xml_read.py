"""Read XML as a table: find the repeating element; its attributes and children are the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.formats.detection.encodings import Encoding
from penstock.formats.read_options import ReadOptions, ReadReport
from penstock.formats.records.flatten import (
    GOODS,
    IDENTITY,
    RECORD_NAMES,
    STRONG_IDENTITY,
    flattened,
)
from penstock.formats.records.rows import Columns, rows_of_records
from penstock.formats.records.xml_text import XmlText, xml_encoding
from penstock.formats.source import Source
from penstock.formats.structure.cell_kinds import unique_names
from penstock.formats.tables import Chunks, Cursor, Piece, Problems, TableEnd, TableHead
from penstock.model.errors import BadInput

Path = tuple[str, ...]
_MAX_PATHS = 20_000
# Elements of unescaped HTML inside a text.
_MARKUP = frozenset({
    "b", "i", "u", "p", "br", "em", "strong", "span", "a", "div", "ul", "ol", "li", "h1", "h2",
    "h3", "h4", "sub", "sup",
})  # fmt: skip
# Attributes that name the field of a generic element.
_FIELD_TAGS = frozenset({"field", "column", "col", "property"})
_SURE_MARKUP = frozenset({"b", "p", "br", "em", "strong", "span", "div", "ul", "ol", "h2", "h3"})


@dataclass(slots=True)
class _Element:
    """All elements at one path together."""

    count: int = 0
    most_at_once: int = 0
    fields: set[str] = field(default_factory=set)


def read_xml(
    source: Source, options: ReadOptions, limits: Mapping[str, int], cursor: Cursor
) -> Iterator[Piece]:
    told: dict[str, Any] = {}
    if cursor is None:
        encoding = xml_encoding(source, options.encoding)
        path, report = _find_path(source, encoding, options, limits)
        columns = Columns(limits)
        for record in _records(source, encoding, path, limits):
            columns.see(flattened(record))
        plan: dict[str, Any] = {
            "format": "xml", "encoding": encoding.name, "errors": encoding.errors,
            "path": list(path), "arrays": False,
            "columns": columns.names, "header": columns.names,
        }  # fmt: skip
        report.header = columns.names
        told = report.as_json()
    else:
        plan = dict(cursor["plan"])
    yield TableHead(plan, unique_names(plan["header"]), told, source.size)
    chunks = Chunks(limits, cursor["rows"] if cursor else 0)
    encoding = Encoding(plan["encoding"], plan.get("errors", "strict"))
    records = _records(source, encoding, tuple(plan["path"]), limits)
    for rows in rows_of_records(records, plan, limits, Problems()):
        yield from chunks.add(rows, source.size)
    yield from chunks.rest(source.size)
    yield TableEnd(chunks.seen, [], [], 0)


def _find_path(
    source: Source, encoding: Encoding, options: ReadOptions, limits: Mapping[str, int]
) -> tuple[Path, ReadReport]:
    found = _survey(source, encoding, limits)
    report = ReadReport("xml", encoding=encoding.name.removesuffix("-sig"))
    if encoding.note:
        report.doubt(encoding.note, 0.7)
    if options.records_path is not None:
        path = tuple(part for part in options.records_path.replace(".", "/").split("/") if part)
        path = next((known for known in found if known[-len(path) :] == path), ())
        if not path:
            raise BadInput(
                "INVALID_PARAMETERS",
                f"records_path {options.records_path!r}: there is no such element",
                option="records_path",
            )
    else:
        path = _choose_records(found, report)
    report.records_path = "/".join(path)
    return path, report


def _survey(source: Source, encoding: Encoding, limits: Mapping[str, int]) -> dict[Path, _Element]:
    found: dict[Path, _Element] = {}
    path: list[str] = []
    children: list[dict[str, int]] = [{}]

    def start(name: str, attributes: dict[str, str]) -> None:
        siblings = children[-1]
        siblings[name] = siblings.get(name, 0) + 1
        path.append(name)
        place = tuple(path)
        element = found.get(place)
        if element is None:
            if len(found) >= _MAX_PATHS:
                raise BadInput("TOO_MANY_COLUMNS", "The XML has too many kinds of elements")
            element = found[place] = _Element()
        element.count += 1
        element.most_at_once = max(element.most_at_once, siblings[name])
        element.fields.update(attributes)
        children.append({})

    def end(name: str) -> None:
        if not children.pop() and len(path) > 1:
            found[tuple(path[:-1])].fields.add(name)
        path.pop()

    text = XmlText(source, encoding, limits)
    text.handle(start, end)
    for _ in text.read():
        pass
    return found


def _choose_records(found: Mapping[Path, _Element], report: ReadReport) -> Path:
    """The outermost element that repeats or has a typical name, with the most fields."""
    fields = _fields_within(found)
    # A repeating element may have no fields of its own, only child elements with fields.
    candidates = {
        path: one for path, one in found.items()
        if len(path) > 1 and (one.fields or (one.most_at_once > 1 and fields[path] > 1))
    }  # fmt: skip
    if not candidates:
        return next(iter(found))
    repeated = [path for path, one in candidates.items() if one.most_at_once > 1]
    named = [path for path in candidates if _plain(path[-1]) in RECORD_NAMES]

    def outermost(paths: list[Path], among: list[Path]) -> list[Path]:
        return [p for p in paths if not any(p != q and p[: len(q)] == q for q in among)]

    def is_product(path: Path) -> bool:
        return any(_plain(name) in IDENTITY for name in candidates[path].fields)

    def weight(path: Path) -> float:
        name = _plain(path[-1]) in RECORD_NAMES
        count = candidates[path].count
        return count * fields[path] * (2 if is_product(path) else 1) * (4 if name else 1)

    roots = list(dict.fromkeys(named + repeated))
    paths = outermost(roots, roots) or list(candidates)
    paths = [p for p in paths if fields[p] > 1] or paths
    # Two offers are more relevant than a hundred categories.
    paths = [
        p for p in paths if _plain(p[-1]) in GOODS and (is_product(p) or fields[p] > 2)
    ] or paths
    paths.sort(key=lambda path: -weight(path))
    for other in paths[1:]:
        if weight(other) > 0.5 * weight(paths[0]):
            report.doubt(f"the records could also be {'/'.join(other)}", 0.6)
    return _product_around(paths[0], found)


def _product_around(path: Path, found: Mapping[Path, _Element]) -> Path:
    """The outermost element around these that has an identifier of goods: a message about one
    product has repeated parts, and the product is the record."""
    for depth in range(2, len(path)):
        above = path[:depth]
        if any(_plain(name) in STRONG_IDENTITY for name in found[above].fields):
            return above
    return path


def _fields_within(found: Mapping[Path, _Element]) -> dict[Path, int]:
    """The number of fields of each element, including those of its descendants."""
    fields: dict[Path, int] = {}
    for path, one in found.items():
        for depth in range(1, len(path) + 1):
            above = path[:depth]
            fields[above] = fields.get(above, 0) + len(one.fields)
    return fields


def _plain(name: str) -> str:
    return name.rpartition(":")[2].lower()


class _Node:
    """An element of a record during reading."""

    __slots__ = ("all_text", "attributes", "children", "name", "text")

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name = name
        self.attributes = attributes
        self.children: list[tuple[str, Any]] = []
        self.text: list[str] = []
        self.all_text: list[str] = []

    def value(self, *, nested: bool) -> Any:
        text = "".join(self.text).strip()
        if not self.attributes and not self.children:
            return text
        members: dict[str, Any] = self._named_fields() or {}
        for name, value in self.children if not members else ():
            if name not in members:
                members[name] = value
            elif isinstance(members[name], list):
                members[name].append(value)
            else:
                members[name] = [members[name], value]
        for name, value in members.items():
            if isinstance(value, list) and (named := _by_name(value)) is not None:
                members[name] = named
        attributes = {
            (f"@{name}" if name in members else name): value
            for name, value in self.attributes.items()
            if not name.startswith("xmlns")
        }
        found = {**attributes, **members}
        if members:
            names = set(map(_plain, members))
            if nested and names <= _MARKUP and names & _SURE_MARKUP:
                return "".join(self.all_text).strip()
            return found
        # An element with attributes and text: the text is its value.
        return {"": text, **found} if text else found

    def _named_fields(self) -> dict[str, Any] | None:
        """``<field name="sku">A</field>``, as in database dumps: the field is `sku`. The same for
        any repeated element with different names."""
        found: dict[str, Any] = {}
        tags = {tag for tag, _ in self.children}
        again = len(tags) == 1 and len(self.children) > 1
        for tag, value in self.children:
            name = value.get("name") if isinstance(value, dict) else None
            known = _plain(tag) in _FIELD_TAGS or again
            if not known or not isinstance(name, str) or name in found:
                return None
            if set(map(_plain, value)) - {"", "name", "nil", "type"}:
                return None
            found[name] = value.get("", "")
        return found or None


def _by_name(values: list[Any]) -> dict[str, str] | None:
    """Repeated `<param name="Color">red</param>`: a field per name."""
    found: dict[str, str] = {}
    for value in values:
        name = value.get("name") if isinstance(value, dict) else None
        if not isinstance(name, str) or name in found or set(value) - {"", "name", "unit", "type"}:
            return None
        found[name] = value.get("", "")
    return found


def _records(
    source: Source, encoding: Encoding, path: Path, limits: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    done: list[dict[str, Any]] = []
    open_: list[_Node] = []
    place: list[str] = []
    held = [0]

    def start(name: str, attributes: dict[str, str]) -> None:
        place.append(name)
        if open_ or tuple(place) == path:
            open_.append(_Node(name, attributes))

    def text(data: str) -> None:
        if open_:
            open_[-1].text.append(data)
            for node in open_[1:]:
                node.all_text.append(data)
            held[0] += len(data)
            if held[0] > 16 * limits["cell_bytes"]:
                raise BadInput("CELL_TOO_LARGE", "One record of the XML is too large")

    def end(name: str) -> None:
        place.pop()
        if not open_:
            return
        node = open_.pop()
        if open_:
            open_[-1].children.append((node.name, node.value(nested=True)))
            return
        value = node.value(nested=False)
        held[0] = 0
        done.append(_tidy(value) if isinstance(value, dict) else {name: value})

    reading = XmlText(source, encoding, limits)
    reading.handle(start, end, text)
    for _ in reading.read():
        yield from done
        done.clear()


def _tidy(record: dict[str, Any]) -> dict[str, Any]:
    """``{"price": {"": "9.99", "currency": "EUR"}}`` has columns ``price`` and
    ``price.currency``."""
    found: dict[str, Any] = {}
    for name, value in record.items():
        if not isinstance(value, dict):
            found[name or "text"] = value
            continue
        if "" in value:
            found[name] = value[""]
        inner = {key: member for key, member in value.items() if key}
        for key, member in _tidy(inner).items():
            found[f"{name}.{key}"] = member
    return found
