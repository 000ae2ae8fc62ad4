"""Read one answer of a source: runs in a child process, because the answer is not trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from pathlib import Path as FilePath
from typing import Any

from penstock.model.errors import PermanentError
from penstock.model.sources.config import SourceConfig
from penstock.model.sources.expressions.evaluate import compiled, evaluate
from penstock.model.sources.expressions.tokens import ExpressionError
from penstock.model.sources.expressions.values import number_of, text_of
from penstock.model.sources.search import ReadAnswer
from penstock.providers.configured.answers import (
    check_schema,
    parse_answer,
    records_of,
    unexpected,
)
from penstock.providers.configured.mapping import RateRow, RecordMapper
from penstock.providers.configured.requests import link_of

_MAX_CURSOR = 2000


@lru_cache(maxsize=64)
def parsed_config(text: str) -> SourceConfig:
    return SourceConfig.model_validate_json(text)


@lru_cache(maxsize=64)
def _mapper(text: str, base: str, rates: tuple[RateRow, ...], today: date) -> RecordMapper:
    return RecordMapper(parsed_config(text), base, rates, today)


def read_answer(
    config_json: str, body: bytes | str, headers: Mapping[str, str], today: date, base: str,
    rates: Sequence[tuple[date, str, Decimal]], maps: bool = True,
) -> ReadAnswer:  # fmt: skip
    """The products of an answer, or of the file that it is in. Raises `Unavailable` for an answer
    in another form, and `PermanentError` for one that violates the schema."""
    config = parsed_config(config_json)
    content = body if isinstance(body, bytes) else FilePath(body).read_bytes()
    document = parse_answer(config, content)
    violations = check_schema(config, document)
    if violations:
        first = violations[0]
        raise PermanentError(
            "VALIDATION_ERROR",
            f"The answer of {config.shown_title} does not fit its schema: {first['field']}:"
            f" {first['message']}",
            violations=violations,
        )
    records = records_of(config, document)
    offers = []
    if maps:
        table = tuple((day, code, rate) for day, code, rate in rates)
        mapper = _mapper(config_json, base, table, today)
        offers = [mapper.map(record) for record in records]
    about = {"answer": document, "headers": dict(headers)}
    total = number_of(_evaluated(config, config.paging.total, about, today))
    cursor = text_of(_evaluated(config, config.paging.next, about, today))
    if config.paging.kind == "link":
        cursor = link_of(config, headers.get("link"))
    if cursor is not None and len(cursor) > _MAX_CURSOR:
        raise unexpected(config, "its cursor is too long")
    whole = None if total is None or not 0 <= total < 10**9 else int(total)
    return ReadAnswer(offers, len(records), cursor or None, whole)


def _evaluated(config: SourceConfig, text: str, about: Any, today: date) -> Any:
    if not text:
        return None
    try:
        return evaluate(compiled(text), about, today)
    except ExpressionError as error:
        raise unexpected(config, str(error)) from error
