"""Guess what a column contains from its cells, without its name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from penstock.catalog.values.availability import QUANTITY_RULES, read_availability, read_quantity
from penstock.catalog.values.availability_words import COLOURS
from penstock.catalog.values.availability_words import WORDS as AVAILABILITY
from penstock.catalog.values.booleans import WORDS as BOOLEANS
from penstock.catalog.values.booleans import read_tax_included
from penstock.catalog.values.currencies import CODES, TOKEN, currency_of
from penstock.catalog.values.dates import read_datetime
from penstock.catalog.values.dimensions import read_dimensions
from penstock.catalog.values.gtin import is_valid, read_gtin
from penstock.catalog.values.images import looks_like_image, read_images, read_url
from penstock.catalog.values.numbers import (
    is_empty_cell,
    read_count,
    read_number,
    read_rating,
    read_tax_rate,
    to_ascii,
)
from penstock.catalog.values.price_tiers import read_percent, read_step, read_tier_cell
from penstock.catalog.values.prices import read_price
from penstock.catalog.values.publication import CLEAR as PUBLISHED
from penstock.catalog.values.publication import STATUS_WORDS, read_published
from penstock.catalog.values.unit_names import KINDS
from penstock.catalog.values.units import read_measure, read_pack, unit_of
from penstock.catalog.word_lists import words

# A column with fewer filled cells is not judged by its content.
MIN_FILLED_CELLS = 3
TOO_FEW = 0.25
_CODE = re.compile(r"\s*(?=[^\s]*[0-9])[A-Z0-9._/-]{1,24}\s*")
_SLUG = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)+")
# Vowels of Thai and Indian scripts are marks, no letters.
_SHORT_WORD = re.compile(r"\s?(?:[^\W\d_]{1,6}|[\u0900-\u0eff]{1,12})\.?\s?")
_PHRASE = re.compile(r"\s*[^\W\d_]{3,} [^\W\d_]{2,}")
MAX_INSPECTED = 200

_FITS: dict[str, Callable[[str], bool]] = {
    # A wrong check digit is a typing error, not a sign of another kind of column.
    "gtin": lambda text: read_gtin(text).value is not None or is_wrong_gtin(text),
    "price": lambda text: read_price(text).value is not None,
    "per_unit": lambda text: read_price(text).value is not None,
    "currency": lambda text: currency_of(text) is not None,
    # Units of other languages are short words, too.
    "unit": lambda text: (
        text.isdecimal() or unit_of(text) is not None or _SHORT_WORD.fullmatch(text) is not None
    ),
    "tiers": lambda text: read_tier_cell(text, None, None).value is not None,
    "step": lambda text: read_step(text).value is not None,
    "percent": lambda text: read_percent(text, None).value is not None,
    "pack": lambda text: read_pack(text).value is not None,
    "tax_rate": lambda text: read_tax_rate(text).value is not None,
    "boolean": lambda text: read_tax_included(text).value is not None,
    "published": lambda text: read_published(text).value is not None,
    "attributes": lambda text: "=" in text,
    "listed_variants": lambda text: "=" in text or "|" in text,
    "option_values": lambda text: not text.startswith("["),
    "availability": lambda text: read_availability(text).value is not None,
    "count": lambda text: _is_whole(text),
    # Availability words belong to the status column; this field takes numbers.
    "quantity": lambda text: read_quantity(text).rule in QUANTITY_RULES,
    "lead_time": lambda text: any(c.isdecimal() for c in text),
    "date": lambda text: read_datetime(text).value is not None,
    "datetime": lambda text: read_datetime(text).value is not None,
    "rating": lambda text: read_rating(text).value is not None,
    "weight": lambda text: read_measure(text, "mass", "kg").value is not None,
    "length": lambda text: read_measure(text, "length", "cm").value is not None,
    "dimensions": lambda text: read_dimensions(text, "cm").value is not None,
    # A sample is cut after some characters and may no longer parse as a list.
    "variants": lambda text: text.startswith("[{"),
    "url": lambda text: read_url(text).value is not None,
    "images": lambda text: (
        read_images(text).value is not None or looks_like_image(text) or text.startswith("[{")
    ),
}


def _is_whole(text: str) -> bool:
    found = read_count(text)
    return found.value is not None and not any(p.code == "NUMBER_ROUNDED" for p in found.problems)


def is_wrong_gtin(text: str) -> bool:
    return any(
        found.code in ("GTIN_LOST", "GTIN_CHECK_DIGIT") for found in read_gtin(text).problems
    )


def filled(samples: Sequence[str]) -> list[str]:
    return [text for text in samples if not is_empty_cell(text)][:MAX_INSPECTED]


def are_codes(samples: Sequence[str]) -> bool:
    """`A-100`, `000123`: codes, not product names."""
    cells = filled(samples)
    return len(cells) > 1 and all(map(_CODE.fullmatch, cells))


def are_phrases(samples: Sequence[str]) -> bool:
    """`Bike pump`, `Chaise pliante bois`: words, not codes."""
    cells = filled(samples)
    worded = sum(map(bool, map(_PHRASE.match, cells)))
    return len(cells) > 1 and worded >= 0.6 * len(cells)


def are_names(samples: Sequence[str]) -> bool:
    """Different texts of several words or of a script without spaces, as names of products are."""
    cells = [text.strip() for text in filled(samples)]
    if len(cells) < MIN_FILLED_CELLS or len(set(cells)) < 0.9 * len(cells):
        return False
    names = [
        text
        for text in cells
        if 4 <= len(text) <= 150
        and sum(map(str.isalpha, text)) >= 0.5 * len(text)
        and (" " in text or any(c > "\u0e00" for c in text))
        and "://" not in text
    ]
    return len(names) >= 0.6 * len(cells)


def say_if_taxed(samples: Sequence[str]) -> bool:
    """`incl. VAT`, `без НДС`: whether tax is included, not its rate."""
    cells = filled(samples)
    return bool(cells) and all(read_tax_included(text).rule == "tax_words" for text in cells)


def are_words(samples: Sequence[str]) -> bool:
    """`Tribal`, `Flat weave`, or single letters: none with a digit, a dash or a dot within."""
    cells = filled(samples)
    return bool(cells) and all(
        len(text.strip()) == 1 or all(c.isalpha() or c == " " for c in text) for text in cells
    )


def are_different_slugs(samples: Sequence[str]) -> bool:
    """`blue-shirt`, `red-shirt`: another one in each row."""
    cells = [text.strip() for text in filled(samples)]
    slugs = len(cells) > 1 and all(map(_SLUG.fullmatch, cells))
    return slugs and len(set(cells)) == len(cells)


def are_numbers(samples: Sequence[str]) -> bool:
    cells = filled(samples)
    return bool(cells) and all(text.strip().isdecimal() for text in cells)


def are_whole(samples: Sequence[str]) -> bool:
    """Whole numbers, perhaps below zero, which are no codes."""
    cells = [text.strip().removeprefix("-") for text in filled(samples)]
    return bool(cells) and all(text.isdecimal() and len(text) < 7 for text in cells)


def are_decimals(samples: Sequence[str]) -> bool:
    """Numbers with cents, as amounts are."""
    cells = filled(samples)
    return bool(cells) and all(
        any(mark in text for mark in ".,") and read_number(text) is not None for text in cells
    )


def are_article_numbers(samples: Sequence[str]) -> bool:
    """Numbers of six to fourteen digits, as barcodes have."""
    cells = [text.strip() for text in filled(samples)]
    return bool(cells) and all(text.isdecimal() and 6 <= len(text) <= 14 for text in cells)


def say_nothing_of_publication(samples: Sequence[str]) -> bool:
    """No cell is `active`, `draft`, `1` or the like; `OK` and `new` are other kinds of status."""
    cells = {text.strip().casefold().rstrip(".") for text in filled(samples)}
    return bool(cells) and cells.isdisjoint(STATUS_WORDS)


def are_digits(samples: Sequence[str]) -> bool:
    """`1`, `2`: single digits, as codes of classes are."""
    cells = filled(samples)
    return bool(cells) and all(len(text.strip()) == 1 for text in cells)


def are_counted(samples: Sequence[str]) -> bool:
    """`1`, `2`, `3`: the rows are counted. Numbers of articles may follow each other, too, but do
    not begin with 1."""
    cells = [text.strip() for text in filled(samples)]
    if len(cells) < MIN_FILLED_CELLS or not all(text.isdecimal() for text in cells):
        return False
    first = int(cells[0])
    return first < 2 and [int(text) for text in cells] == list(range(first, first + len(cells)))


def are_amounts(samples: Sequence[str]) -> bool:
    """Numbers of which at least one is above 1, so that they are not `yes` and `no`."""
    return are_numbers(samples) and any(int(text) > 1 for text in filled(samples))


def are_measures(samples: Sequence[str]) -> bool:
    """`500 g`, `6 x 330 ml`: sizes, not numbers of pieces."""
    cells = filled(samples)
    measured = sum(
        pack is not None and KINDS[pack.unit] in ("mass", "volume")
        for pack in (read_pack(text).value for text in cells)
    )
    return len(cells) >= MIN_FILLED_CELLS and measured >= 0.8 * len(cells)


_PRODUCT = words(
    "product products item items offer offers article articles produkt artikel simple variable"
    " variant variants configurable grouped virtual physical digital bundle consu storable goods"
)


def are_all_generic(samples: Sequence[str]) -> bool:
    """Every cell contains a word like `product` or `simple`, the same in most rows."""
    said = {text.strip().casefold() for text in filled(samples)}
    return bool(said) and said <= _PRODUCT


def fit(kind: str, samples: Sequence[str]) -> float | None:
    """The share of filled cells that a field of this kind accepts; None if too few are filled."""
    check = _FITS.get(kind)
    cells = filled(samples)
    if check is None or not cells:
        return None
    share = sum(check(text) for text in cells) / len(cells)
    if len(cells) < MIN_FILLED_CELLS:
        # Few cells can all be typing errors, but they still lower the score of a weak name.
        return None if share else TOO_FEW
    return share


# What the cells look like, the field they suggest, and the highest confidence.
_LOOKS: tuple[tuple[str, str, float, Callable[[str], bool]], ...] = (
    ("gtin", "identifiers.gtin", 0.85, lambda text: is_valid(text.strip())),
    ("image_url", "images", 0.8, lambda text: text.startswith("http") and looks_like_image(text)),
    (
        "url",
        "metadata.url",
        0.7,
        lambda text: (
            text.startswith("http") and not looks_like_image(text) and not _is_document(text)
        ),
    ),
    ("currency", "price.currency", 0.8, lambda text: text.strip().upper() in CODES),
    ("price", "price.amount", 0.75, lambda text: _is_price(text)),
    ("availability", "availability.status", 0.7, lambda text: _is_availability(text)),
    # Single letters are classes or sizes as often as units.
    (
        "unit",
        "price.unit",
        0.55,
        lambda text: len(text.strip()) > 1 and not text[0].isdigit() and unit_of(text) is not None,
    ),
    ("long_text", "description", 0.55, lambda text: len(text) > 100 and " " in text),
    ("date", "metadata.lastUpdated", 0.3, lambda text: _is_date(text)),
    ("boolean", "price.taxIncluded", 0.2, lambda text: text.strip().casefold() in BOOLEANS),
)


_MONEY = re.compile(
    r"\s*(?:[^\w\s]{1,2}|[A-Z]{3}|[A-Z]{0,2}[$€£]|zł|Kč|kr|Rs|Fr)?\.?\s?"
    r"[0-9][0-9.,' \u00a0\u202f]*"
    r"(?:,-|\.-)?\s?(?:[^\w\s]|[A-Z]{3}|[a-zA-Zčřłźżęąó]{1,5}\.?|円|元)?\s*"
)


def _is_price(text: str) -> bool:
    """A number with a currency symbol or code, and nothing else."""
    if len(text) >= 40 or TOKEN.search(text) is None or not _MONEY.fullmatch(to_ascii(text)):
        return False
    return read_price(text).value is not None


_DOCUMENT = re.compile(r"\.(?:pdf|zip|docx?|xlsx?|mp4|dwg|dxf|stp|step)(?:[?#]|$)", re.IGNORECASE)


def _is_document(text: str) -> bool:
    """A data sheet, manual or drawing, not the product's page."""
    return _DOCUMENT.search(text) is not None


def _is_availability(text: str) -> bool:
    word = text.strip().casefold().replace("_", " ")
    return len(word) > 4 and word in AVAILABILITY and word not in BOOLEANS | COLOURS


def _is_date(text: str) -> bool:
    return len(text) >= 6 and read_number(text) is None and read_datetime(text).value is not None


def are_all_no(samples: Sequence[str]) -> bool:
    """Whether every cell is a single `N` or `0`."""
    cells = {text.strip().casefold() for text in filled(samples)}
    return bool(cells) and cells <= {"n", "0"}


def look(samples: Sequence[str]) -> tuple[str, str, float] | None:
    """What the column looks like, the field this suggests and its confidence, or None."""
    cells = filled(samples)
    if cells and all(text.strip() in CODES for text in cells):
        return "currency", "price.currency", 0.8
    if len(cells) > 1 and all(text.strip().casefold() in PUBLISHED for text in cells):
        return "published", "published", 0.6
    if len(cells) < MIN_FILLED_CELLS:
        return None
    for kind, target, most, check in _LOOKS:
        share = sum(check(text) for text in cells) / len(cells)
        # One word in all cells, as `Stock`, may be the kind of the product.
        if kind == "availability" and len(set(cells)) == 1 and " " not in cells[0].strip():
            continue
        if share >= 0.8:
            return kind, target, round(most * share, 3)
    return None


_NUMBERED = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z]|0|[0-9]{5})[A-Za-z0-9._/-]{2,24}")
_WITH_CENTS = re.compile(r"[0-9]{1,3}(?:[.,' ]?[0-9]{3})*[.,][0-9]{2}")


def guess(samples: Sequence[str]) -> str | None:
    """The likely field of a column without a name: codes, amounts with cents, or names."""
    cells = [text.strip() for text in filled(samples)]
    if len(cells) < MIN_FILLED_CELLS:
        return None
    if all(map(_NUMBERED.fullmatch, cells)):
        return "identifiers.sku"
    if all(map(_WITH_CENTS.fullmatch, cells)):
        return "price.amount"
    words_in = [text for text in cells if sum(map(str.isalpha, text)) >= 3 and len(text) <= 120]
    return "title" if len(words_in) >= 0.9 * len(cells) else None


# The price is at least this many times the number of pieces, in a file that names neither.
_PRICE_TO_STOCK = 10


def guess_all(columns: Sequence[Sequence[str]]) -> list[str | None]:
    """The likely fields of columns without names. Of several columns of words the title is the
    one with the most different and the longest texts; of two columns of whole numbers the price
    is the one with much larger numbers, the other the stock."""
    guesses = [guess(cells) for cells in columns]
    titles = [index for index, one in enumerate(guesses) if one == "title"]
    if len(titles) > 1:
        best = max(titles, key=lambda index: _variety(columns[index]))
        for index in titles:
            guesses[index] = "title" if index == best else None
    whole = [
        index
        for index, one in enumerate(guesses)
        if one is None and are_numbers(columns[index]) and not are_counted(columns[index])
    ]
    if "price.amount" not in guesses and len(whole) == 2:
        stock, price = sorted(whole, key=lambda index: _median(columns[index]))
        if _median(columns[price]) >= _PRICE_TO_STOCK * max(1, _median(columns[stock])):
            guesses[price], guesses[stock] = "price.amount", "availability.quantity"
    return guesses


def _variety(samples: Sequence[str]) -> tuple[int, int]:
    cells = filled(samples)
    return 10 * len(set(cells)) // len(cells), sum(map(len, cells))


def _median(samples: Sequence[str]) -> int:
    cells = sorted(int(text) for text in filled(samples))
    return cells[len(cells) // 2]
