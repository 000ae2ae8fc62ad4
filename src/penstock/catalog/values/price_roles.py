"""Which of several amounts of a text is the price: `statt 29,99 jetzt 19,99`, `£19.99 (save £10)`,
`R$ 129,90 em até 12x de R$ 10,83`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal

from penstock.catalog.values import price_words as words
from penstock.catalog.values.numbers import read_number

Span = tuple[int, int]
Role = Literal["price", "now", "former", "other"]

_COUNT_AFTER = re.compile(r"\s?x(?![^\W_])", re.IGNORECASE)


def current_amounts(text: str, spans: Sequence[Span], mark: str) -> list[Span]:
    """The amounts that may be the price; none if all of them are something else, such as a saving.
    ``mark`` is where a currency was."""
    roles: list[Role] = []
    gaps = _gaps(text, spans, mark)
    for index in range(len(spans)):
        before, after = gaps[index], gaps[index + 1]
        if index and words.BETWEEN.match(before):
            by_word = any(c.isalpha() for c in before)
            roles.append("now" if by_word and roles[-1] == "former" else roles[-1])
        else:
            role = _role_by_label(before)
            told = words.NOT_PRICE_AFTER.match(after)
            if _COUNT_AFTER.match(after):
                role = "other"
            elif told is not None:
                following = spans[index + 1] if index + 1 < len(spans) else None
                if following is None or not _belongs_to_next(
                    after, role, text, (spans[index], following)
                ):
                    role = "other"
                    # `12 cuotas de $ 99`: a number of instalments leaves the word to the amount.
                    if has_currency(text, spans[index], mark) or not _is_whole(text, spans[index]):
                        gaps[index + 1] = after[told.end() :]
            roles.append(role)
        if index and roles[-1] == "price" and _replaces(text, spans, index, mark):
            roles[-1] = "now"
    for wanted in ("now", "price", "former"):
        chosen = [span for span, role in zip(spans, roles, strict=True) if role == wanted]
        if chosen:
            return chosen
    return []


def _is_whole(text: str, span: Span) -> bool:
    return text[span[0] : span[1]].strip().isdecimal()


def _gaps(text: str, spans: Sequence[Span], mark: str) -> list[str]:
    """The texts before, between and after the amounts, without the marks of currencies."""
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    return [text[a:b].replace(mark, " ") for a, b in zip(ends, starts, strict=True)]


def _belongs_to_next(between: str, role: Role, text: str, spans: tuple[Span, Span]) -> bool:
    """Whether a word between two amounts that may follow or precede its amount, as in `2,99 €
    Pfand 0,15 €`, is the label of the second one. It is if the first has a label of its own;
    otherwise it is that of the lower amount, since savings, delivery and deposits are lower."""
    labels = list(words.NOT_PRICE_BEFORE.finditer(between))
    left = between[labels[-1].end() :].strip(" .(") if labels else between
    if not labels or left not in ("", ":"):
        return False
    if (
        role in ("now", "former")
        or left == ":"
        or words.ALWAYS_BEFORE.fullmatch(labels[-1].group())
    ):
        return True
    first, second = (read_number(text[a:b].strip().rstrip(".,")) for a, b in spans)
    return first is not None and second is not None and second.decimal < first.decimal


def _role_by_label(before: str) -> Role:
    """The role that the words before an amount give it."""
    role: Role = "price"
    last = -1
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
