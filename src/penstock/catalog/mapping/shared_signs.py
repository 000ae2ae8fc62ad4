"""The currency of signs that several countries share, by the language of the file: `kr` in Swedish
columns, `¥` beside Chinese names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from penstock.catalog.mapping.column_decisions import ColumnDecision
from penstock.catalog.mapping.column_stats import ColumnStats
from penstock.catalog.mapping.synonyms import header_key
from penstock.catalog.values.currencies import YEN_SIGNS
from penstock.catalog.word_lists import by_word, load

_CROWNS = by_word(load("currencies")["languages of crowns"])
_CROWN_WORDS = frozenset(("kr", "kronor", "kroner"))
_KANA = re.compile("[\u3041-\u30fa]")
_CHINESE = re.compile("[\u4e00-\u9fff]")


def currency_by_language(header: Sequence[str], stats: Sequence[ColumnStats]) -> str | None:
    """The currency that a shared sign has in this file; None if it has none or the language is not
    clear."""
    signs = {token for column in stats for token in column.currencies}
    named = {word for name in header for word in header_key(name).split()}
    if not signs.isdisjoint(YEN_SIGNS):
        return _yen_or_yuan([*header, *(text for one in stats for text in one.samples)])
    if "KR" in signs or "KR." in signs or not named.isdisjoint(_CROWN_WORDS):
        crowns = {_CROWNS[word] for word in named if word in _CROWNS}
        return crowns.pop() if len(crowns) == 1 else None
    return None


def _yen_or_yuan(texts: Iterable[str]) -> str | None:
    whole = " ".join(texts)
    if _KANA.search(whole):
        return "JPY"
    return "CNY" if _CHINESE.search(whole) else None


def with_crowns(
    decisions: Sequence[ColumnDecision], header: Sequence[str], currency: str | None
) -> list[ColumnDecision]:
    """Decisions with the currency of a file in whose header `kr` stands: `Nettopris kr`."""
    named = [name for name in header if not _CROWN_WORDS.isdisjoint(header_key(name).split())]
    if not named or currency not in _CROWNS.values():
        return list(decisions)
    note = f"kr in {named[0]!r} is read as {currency}: set `currency` if it is another"
    return [
        replace(one, currency=currency, notes=(*one.notes, note)) if one.currency is None else one
        for one in decisions
    ]
