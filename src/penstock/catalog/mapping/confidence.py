"""The confidence of a column's name, corrected by what its cells contain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from penstock.catalog.fields import kind_of
from penstock.catalog.mapping import column_content as content
from penstock.catalog.mapping.column_options import MIN_CONFIDENCE

Cells = Sequence[str]

# Factor for a column without values; with it a weak name still fills a field.
_EMPTY = 0.75
# Above any confidence.
_ALWAYS = 2.0


class _Doubt(NamedTuple):
    """Names of a confidence below ``below`` are multiplied by ``factor`` if the cells say so."""

    targets: tuple[str, ...]
    below: float
    check: Callable[[Cells], bool]
    factor: float


_DOUBTS = (
    _Doubt(("title", "specifications.material"), _ALWAYS, content.are_codes, 0.6),
    _Doubt(("identifiers.sku",), _ALWAYS, content.are_phrases, 0.6),
    # `No.` with 1, 2, 3 is the number of the row.
    _Doubt(("identifiers.sku",), 1, content.are_counted, 0.6),
    # Numbers of brands and suppliers.
    _Doubt(("brand", "supplier.name"), _ALWAYS, content.are_numbers, 0.6),
    # `Provider` with `Textil SA` is the name, not the number of a supplier.
    _Doubt(("supplier.id",), _ALWAYS, content.are_words, 0.6),
    # `Style` with `Tribal` is a kind, and a `slug` of each row nothing that variants share.
    _Doubt(("variants.group",), 0.9, content.are_words, 0.4),
    _Doubt(("variants.group",), 0.9, content.are_different_slugs, 0.4),
    # `Tax class` with 1 and 2 are codes, with 19 % or 7.7 rates.
    _Doubt(("price.taxRate",), 0.9, content.are_digits, 0.6),
    # Numeric category codes mean nothing without their list.
    _Doubt(("category",), _ALWAYS, content.are_numbers, 0.5),
    _Doubt(("category",), _ALWAYS, content.are_all_generic, 0.3),
    # `Status` with `N` in every row is a code; else no product would be visible.
    _Doubt(("published",), _ALWAYS, content.are_all_no, 0.5),
    # `Status` with `OK` is another one.
    _Doubt(("published",), 0.8, content.say_nothing_of_publication, 0.5),
)
_DOUBTS_OF = {
    target: tuple(one for one in _DOUBTS if target in one.targets)
    for doubt in _DOUBTS
    for target in doubt.targets
}


def adjusted_confidence(target: str, confidence: float, samples: Cells) -> float:
    """The confidence of a name, corrected by how well the cells fit the field."""
    for doubt in _DOUBTS_OF.get(target, ()):
        if confidence < doubt.below and doubt.check(samples):
            confidence *= doubt.factor
            break
    kind = kind_of(target)
    share = content.fit(kind, samples)
    if kind == "gtin" and not share and content.are_article_numbers(samples):
        # Numbers that shops give themselves are in the column of barcodes, too.
        share = MIN_CONFIDENCE
    if kind == "count" and share is not None and share < 0.5:
        share = 0.0  # Amounts of money are whole numbers now and then.
    if share is not None:
        return round(confidence * (0.4 + 0.6 * share), 3)
    if samples and not content.filled(samples):
        # Of two columns of one field the one with values fills it.
        return round(confidence * _EMPTY, 3)
    return round(confidence, 3)
