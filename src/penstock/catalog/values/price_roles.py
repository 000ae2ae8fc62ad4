"""Which of several amounts of a text is the price: `statt 29,99 jetzt 19,99`, `£19.99 (save £10)`,
`R$ 129,90 em até 12x de R$ 10,83`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from penstock.catalog.values import price_words as words

Span = tuple[int, int]
Role = Literal["price", "now", "former", "other"]

_COUNT_AFTER = re.compile(r"\s?x(?![^\W_])", re.IGNORECASE)


def current_amounts(text: str, spans: Sequence[Span], mark: str) -> list[Span]:
    """The amounts that may be the price; none if all of them are something else, such as a saving.
    ``mark`` is where a currency was."""
    roles: list[Role] = []
    for index, (start, end) in enumerate(spans):
        before = text[spans[index - 1][1] if index else 0 : start].replace(mark, " ")
        after = text[end : spans[index + 1][0] if index + 1 < len(spans) else len(text)]
        if index and words.BETWEEN.match(before):
            by_word = any(c.isalpha() for c in before)
            roles.append("now" if by_word and roles[-1] == "former" else roles[-1])
        else:
            roles.append(_role(before, after.replace(mark, " "), is_first=index == 0))
        if index and roles[-1] == "price" and _replaces(text, spans, index, mark):
            roles[-1] = "now"
    for wanted in ("now", "price", "former"):
        chosen = [span for span, role in zip(spans, roles, strict=True) if role == wanted]
        if chosen:
            return chosen
    return []


def _role(before: str, after: str, *, is_first: bool) -> Role:
    if _COUNT_AFTER.match(after) or words.NOT_PRICE_AFTER.match(after):
        return "other"
    role: Role = "price"
    last = -1
    # `0,15 € Pfand 2,99 €`: the word belongs to the amount before it.
    told = words.NOT_PRICE_AFTER.match(before)
    before = before[told.end() :] if told is not None and not is_first else before
    for name, pattern in _BEFORE:
        for match in pattern.finditer(before):
            # Of two phrases that end together the first pattern counts.
            if match.end() > last:
                last, role = match.end(), name
    return role


_BEFORE: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("other", words.NOT_PRICE_BEFORE),
    ("former", words.FORMER),
    ("now", words.NOW),
)


def _replaces(text: str, spans: Sequence[Span], index: int, mark: str) -> bool:
    """`De R$ 199,90 por R$ 129,90`: both amounts have a currency, so the first is no quantity."""
    between = text[spans[index - 1][1] : spans[index][0]].replace(mark, " ")
    return (
        words.REPLACED_BY.fullmatch(between) is not None
        and has_currency(text, spans[index - 1], mark)
        and has_currency(text, spans[index], mark)
    )


def reduced_amount(amounts: Sequence[Decimal], percent: Decimal) -> Decimal | None:
    """The one amount that is so many percent below the highest: `20,00 € -27 % 14,68 €`. The
    percentage may be rounded up or down."""
    highest = max(amounts)
    reduced = {
        one
        for one in amounts
        if one < highest and abs(100 * (1 - one / highest) - percent) < 1 <= percent
    }
    return reduced.pop() if len(reduced) == 1 else None


def has_currency(text: str, span: Span, mark: str) -> bool:
    """Whether a currency is beside the number."""
    return text[: span[0]].rstrip().endswith(mark) or text[span[1] :].lstrip().startswith(mark)
