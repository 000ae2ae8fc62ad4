"""Answers of a source as plain data: JSON, XML or CSV, and the records in it."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any
from xml.parsers import expat

from penstock.catalog.products.validate import compile_schema
from penstock.formats.csv.dialect import csv_rows
from penstock.formats.records.xml_text import safe_parser
from penstock.model.errors import BadInput, PermanentError, Unavailable
from penstock.model.sources.config import SourceConfig
from penstock.model.sources.expressions.evaluate import evaluate
from penstock.model.sources.expressions.parser import Function, Node, Operation, Path, parse
from penstock.model.sources.expressions.values import TEXT
from penstock.model.text.encodings import is_text_encoding

MAX_RECORDS = 5_000
_DEEPEST = 60
_MAX_SHOWN = 5


def unexpected(config: SourceConfig, reason: str) -> Unavailable:
    """An answer in another form than configured is an error of the server, and may pass."""
    return Unavailable(
        "SERVICE_UNAVAILABLE", f"{config.shown_title} sent an unexpected answer: {reason}."
    )


def parse_answer(config: SourceConfig, body: bytes) -> Any:
    match config.response.format:
        case "json":
            return _json(config, body)
        case "xml":
            return _xml(config, body)
    return _csv(config, body)


def _json(config: SourceConfig, body: bytes) -> Any:
    try:
        return json.loads(body, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, RecursionError, ArithmeticError) as error:
        raise unexpected(config, "it is not valid JSON") from error


def _no_constant(name: str) -> Any:
    raise ValueError(name)


class _Element:
    __slots__ = ("members", "text")

    def __init__(self, attributes: Mapping[str, str]) -> None:
        self.members: dict[str, Any] = {f"@{name}": told for name, told in attributes.items()}
        self.text: list[str] = []

    def add(self, name: str, value: Any) -> None:
        known = self.members.get(name)
        if known is None:
            self.members[name] = value
        elif isinstance(known, list):
            known.append(value)
        else:
            self.members[name] = [known, value]

    @property
    def value(self) -> Any:
        text = "".join(self.text).strip()
        if not self.members:
            return text
        return self.members | {TEXT: text} if text else self.members


def _xml(config: SourceConfig, body: bytes) -> Any:
    """Attributes are members `@name`; the text beside them is `#text`. Prefixes are kept."""
    open_: list[_Element] = [_Element({})]

    def start(name: str, attributes: dict[str, str]) -> None:
        if len(open_) > _DEEPEST:
            raise unexpected(config, f"it is nested more than {_DEEPEST} deep")
        open_.append(_Element(attributes))

    def end(name: str) -> None:
        done = open_.pop()
        open_[-1].add(name, done.value)

    def text(data: str) -> None:
        open_[-1].text.append(data)

    parser = safe_parser()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = text
    try:
        parser.Parse(body, True)
    except expat.ExpatError as error:
        raise unexpected(config, "it is not valid XML") from error
    except BadInput as error:
        raise PermanentError("VALIDATION_ERROR", f"{config.shown_title}: {error.message}") from None
    return open_[0].value


def _csv(config: SourceConfig, body: bytes) -> list[dict[str, str]]:
    encoding = config.response.encoding or "utf-8-sig"
    if not is_text_encoding(encoding):
        raise PermanentError("INVALID_CONFIG", f"There is no encoding {encoding[:40]!r}.")
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        raise unexpected(config, f"it is not {encoding}") from error
    if not text.strip():
        return []
    rows = csv_rows(text, config.response.delimiter)
    try:
        header = [name.strip() for name in next(rows, [])]
        wanted = {str(path.steps[0]) for path in paths_of(config) if path.steps}
        if wanted and wanted.isdisjoint(header):
            raise unexpected(config, "it has none of the columns of the mapping")
        found: list[dict[str, str]] = []
        for row in rows:
            if row and len(found) < MAX_RECORDS:
                found.append(dict(zip(header, row, strict=False)))
        return found
    except csv.Error as error:
        raise unexpected(config, "it is not valid CSV") from error


def paths_of(config: SourceConfig) -> list[Path]:
    """All paths that the mapping reads."""
    found: list[Path] = []

    def walk(node: Node) -> None:
        if isinstance(node, Path):
            found.append(node)
        for one in getattr(node, "operands", ()) if isinstance(node, Operation) else ():
            walk(one)
        for one in node.arguments if isinstance(node, Function) else ():
            walk(one)

    for rule in config.rules.values():
        walk(rule)
    return found


def records_of(config: SourceConfig, document: Any) -> list[Any]:
    """The records at the configured path; a single one is a list of one."""
    if config.response.format == "csv":
        records = document
    elif not config.response.records:
        records = document
        if isinstance(document, str):
            raise unexpected(config, "it has no records")
    else:
        path = parse(config.response.records)
        assert isinstance(path, Path)
        records = _at(document, path)
        parent = Path(path.steps[:-1]) if config.response.format == "xml" else None
        if records is None and (parent is None or _at(document, parent) is None):
            raise unexpected(config, f"there is no `{config.response.records}`")
    if records is None:
        return []
    return list(records if isinstance(records, list) else [records])[:MAX_RECORDS]


def _at(document: Any, path: Path) -> Any:
    return evaluate(path, document, date.min) if path.steps else document


def check_schema(config: SourceConfig, document: Any) -> list[dict[str, Any]]:
    """Violations of the answer's schema, the first few."""
    schema = compile_schema(config.response.schema_)
    if schema is None or schema.is_valid(document):
        return []
    found = []
    for error in schema.iter_errors(document):
        place = ".".join(str(part) for part in error.instance_path) or "the answer"
        found.append(
            {"code": "SCHEMA_VIOLATED", "field": place[:200], "message": str(error.message)[:300]}
        )
        if len(found) == _MAX_SHOWN:
            break
    return found
