"""Find columns of a size matrix: one column for each size, with the number of pieces in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from penstock.catalog.mapping.column_content import filled

_MIN_SIZES = 3
_HEADER = re.compile(
    r"(?:(?:size|gr|größe|groesse|taille|talla|tam|tamanho|taglia|tg|maat|rozmiar|rozm|velikost|storlek"
    r"|stl|størrelse|str|koko|méret|mărime|beden|pointure|eu|размер)\.?\s{0,2})?"
    r"(?P<size>[2-9]?x{0,4}[sl]|m|[2-9]xl|xxs|one\s?size|[1-6][0-9](?:[.,]5|\s?½|\s?1/2)?)",
    re.IGNORECASE,
)
_LETTERS = ("XXXS", "XXS", "XS", "S", "M", "L", "XL", "XXL", "XXXL", "XXXXL")
_COUNT = re.compile(r"\s*[0-9]{1,5}(?:[.,]0{1,3})?\s*")
# Sizes of shoes and clothes; other numbers are quantities or years.
_SMALLEST, _LARGEST = 15, 64
_WIDEST_STEP = 4


def find_size_columns(header: Sequence[str], samples: Sequence[Sequence[str]]) -> dict[int, str]:
    """Sizes by column: at least three in their order, whose cells are whole numbers."""
    found = {
        index: _plain(match["size"])
        for index, name in enumerate(header)
        if len(name) <= 20
        and (match := _HEADER.fullmatch(name.strip()))
        and _are_counts(samples[index] if index < len(samples) else ())
    }
    if len(found) < _MIN_SIZES or not _are_in_order(list(found.values())):
        return {}
    return found


def _plain(size: str) -> str:
    text = size.upper().replace(",", ".").replace(" ", "")
    return text.replace("½", ".5").replace("1/2", ".5")


def _are_counts(samples: Sequence[str]) -> bool:
    return all(map(_COUNT.fullmatch, filled(samples)))


def _are_in_order(sizes: Sequence[str]) -> bool:
    letters = [size for size in sizes if not size[0].isdigit() or size.endswith("XL")]
    numbers = [Decimal(size) for size in sizes if size not in letters]
    if letters and numbers:
        return False
    if letters:
        places = [_LETTERS.index(one) for one in letters if one in _LETTERS]
        return all(a < b for a, b in pairwise(places)) and len(set(letters)) == len(letters)
    steps = [b - a for a, b in pairwise(numbers)]
    in_range = numbers[0] >= _SMALLEST and numbers[-1] <= _LARGEST
    return (
        in_range
        and all(0 < step <= _WIDEST_STEP for step in steps)
        and numbers[1] - numbers[0] <= 2
    )
