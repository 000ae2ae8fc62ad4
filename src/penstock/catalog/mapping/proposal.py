"""Propose a field per column: by exact name, then by similar name, then by content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from penstock.catalog.fields import kind_of
from penstock.catalog.mapping import column_content, synonyms
from penstock.catalog.mapping.adjustments import adjust
from penstock.catalog.mapping.assign import assign
from penstock.catalog.mapping.column_groups import add_names_below_groups
from penstock.catalog.mapping.column_options import MIN_CONFIDENCE, ColumnOptions, How
from penstock.catalog.mapping.confidence import adjusted_confidence
from penstock.catalog.mapping.customs_tariff import names_customs_tariff
from penstock.catalog.mapping.header_meaning import fields_meant, names_supplier_number
from penstock.catalog.mapping.header_words import names_packaging
from penstock.catalog.mapping.price_audience import add_audience, price_notes
from penstock.catalog.mapping.price_breaks import find_price_breaks
from penstock.catalog.mapping.shared_prefix import names_without_prefix
from penstock.catalog.mapping.size_columns import find_size_columns
from penstock.catalog.mapping.synonyms import Candidate, Hints, header_key
from penstock.catalog.mapping.tier_columns import find_steps
from penstock.catalog.word_lists import load, words

MIN_SIMILARITY = 88
MAX_ALTERNATIVES = 4
MIN_MISSPELT_LENGTH = 4
MIN_WORD_SIMILARITY = 85
GUESSED = 0.5
SUPPLIER_NUMBER = 0.6
_NUMBERS = ("identifiers.sku", "identifiers.mpn", "supplier.id")

# The names that readers give to columns of a file without a header.
_NUMBERED = re.compile(r"Column [0-9]{1,4}")
TIER_PRICE = re.compile(r"price\.tiers\.[0-9]+")
# Words that resemble known names but are not misspelt ones.
_NO_MISTAKES = words(load("header_words")["not misspelt"])
_GROSS = words(load("header_words")["gross"])

# One exact name outweighs any number of similar names, and they any number of content guesses.
_TIERS: dict[How, float] = {"exact": 10_000.0, "fuzzy": 100.0, "content": 1.0}


@dataclass(frozen=True, slots=True)
class ColumnProposal:
    """The proposal for one column; ``target`` None keeps it as a custom field."""

    index: int
    header: str
    target: str | None
    confidence: float
    how: How
    looks_like: str | None
    hints: Hints
    alternatives: tuple[Candidate, ...]

    def as_json(self) -> dict[str, object]:
        return {
            "column": self.header,
            "target": self.target,
            "confidence": self.confidence,
            "how": self.how,
            "looksLike": self.looks_like,
            "currency": self.hints.currency,
            "unit": self.hints.unit,
            "taxIncluded": self.hints.tax_included,
            "alternatives": [
                {"target": other.target, "confidence": other.confidence}
                for other in self.alternatives
            ],
        }


@dataclass(frozen=True, slots=True)
class Proposal:
    columns: tuple[ColumnProposal, ...]
    fingerprint: str
    platform: str | None
    notes: tuple[str, ...] = ()

    def targets(self) -> dict[str, str]:
        """Target by header, for mapped columns only."""
        return {c.header: c.target for c in self.columns if c.target is not None}


def fingerprint(header: Sequence[str]) -> str:
    """Equal for files with the same columns; order, case and spaces do not matter."""
    names = sorted(header_key(name) for name in header)
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:32]


def propose(header: Sequence[str], samples: Sequence[Sequence[str]] = ()) -> Proposal:
    """A target for each column, no target twice. ``samples`` holds some cells of each column."""
    platform = synonyms.platform_of(header)
    shorter = names_without_prefix(header)
    if any(samples):
        # A column without cells is empty, not unknown.
        samples = [cells or ("",) for cells in samples]
    thoughts = [
        _field_options(
            name, shorter[index], samples[index] if index < len(samples) else (), platform
        )
        for index, name in enumerate(header)
    ]
    if all(map(_NUMBERED.fullmatch, header)):
        _guess(thoughts, samples)
    _find_price_breaks(header, thoughts, samples)
    _find_price_steps(header, thoughts, samples)
    _find_sizes(header, thoughts, samples)
    add_names_below_groups(header, thoughts, samples)
    scores = []
    for index, thought in enumerate(thoughts):
        # Of two equally good columns the first wins.
        first = 1 - index * 1e-7
        scores.append(
            {
                target: _TIERS[how] * confidence * first
                for target, (confidence, how) in thought.options.items()
                if confidence >= MIN_CONFIDENCE
            }
        )
    chosen = assign(scores)
    adjust(header, chosen, thoughts, samples, platform)
    return Proposal(
        tuple(
            _proposal(index, header[index], thought, target)
            for index, (thought, target) in enumerate(zip(thoughts, chosen, strict=True))
        ),
        fingerprint(header),
        platform,
        tuple(price_notes(header, chosen, thoughts)),
    )


def _field_options(
    name: str, shorter: str | None, samples: Sequence[str], platform: str | None
) -> ColumnOptions:
    """``shorter`` is the name without the prefix that all columns of the file share."""
    named, hints = synonyms.candidates(name, platform)
    if names_customs_tariff(name) or (
        platform is not None and synonyms.fills_no_field(name, platform)
    ):
        return ColumnOptions({}, None, hints)
    forms = [name]
    if not named and shorter is not None:
        named, hints = synonyms.candidates(shorter)
        forms.append(shorter)
    options: dict[str, tuple[float, How]] = {
        target: (adjusted_confidence(target, confidence, samples), "exact")
        for target, confidence in _with_stock_words(
            _with_tax_words(_without_measures(named, samples), samples), samples
        )
    }
    if not options:
        meant = next(filter(None, map(fields_meant, forms)), None)
        for target, confidence in meant or _similar_names(forms[-1]):
            options.setdefault(target, (adjusted_confidence(target, confidence, samples), "fuzzy"))
    if "specifications.weight" in options and not _GROSS.isdisjoint(header_key(forms[-1]).split()):
        # Beside the net weight the gross weight is that of the packed product.
        confidence, how = options["specifications.weight"]
        options["specifications.weight"] = (round(confidence * 0.75, 3), how)
    add_audience(options, forms[-1], samples)
    if names_supplier_number(forms[-1]) and not (
        platform is not None and synonyms.is_own_name(name, platform)
    ):
        _weaken_supplier_number(options)
    looks = column_content.look(samples)
    if looks is not None and looks[1] == "identifiers.gtin" and "sourceId" in options:
        # A product id that consists of GTINs is the GTIN, unless another column is.
        options["identifiers.gtin"] = (0.98, "exact")
    if looks is not None:
        _, target, confidence = looks
        if target not in options and not (
            target == "identifiers.gtin" and names_packaging(header_key(forms[-1]))
        ):
            options[target] = (confidence, "content")
    return ColumnOptions(options, looks[0] if looks else None, hints)


def _weaken_supplier_number(options: dict[str, tuple[float, How]]) -> None:
    """The supplier's number of a product is its SKU if the file has no other, and never the number
    of the maker or of the supplier."""
    sure = max((options.pop(target)[0] for target in _NUMBERS if target in options), default=1)
    options["identifiers.sku"] = (min(sure, SUPPLIER_NUMBER), "fuzzy")


def _guess(thoughts: list[ColumnOptions], samples: Sequence[Sequence[str]]) -> None:
    """Guess by content where the file has no header."""
    unknown = [
        (thought, cells)
        for thought, cells in zip(thoughts, samples, strict=False)
        if not thought.options
    ]
    guesses = column_content.guess_all([cells for _, cells in unknown])
    for (thought, _), guessed in zip(unknown, guesses, strict=True):
        if guessed is not None:
            thought.options[guessed] = (GUESSED, "content")


def _find_price_breaks(
    header: Sequence[str], thoughts: list[ColumnOptions], samples: Sequence[Sequence[str]]
) -> None:
    """Columns named `1`, `10`, `100`, or `1-9`, `10-49`, or `Preis 1 Stk`, `Preis 10 Stk`, that
    contain amounts are prices from that quantity up."""
    for index, target, confidence in find_price_breaks(header, samples):
        thoughts[index].options[target] = (confidence, "exact")


def _find_price_steps(
    header: Sequence[str], thoughts: list[ColumnOptions], samples: Sequence[Sequence[str]]
) -> None:
    """`Menge 1`, `Preis 1`, `Menge 2`, `Preis 2`: quantities and the prices from each up."""
    steps = find_steps(header)
    cells = {index: samples[index] if index < len(samples) else () for index in steps}
    if any(
        column_content.fit(kind_of(target), cells[index]) == 0 for index, target in steps.items()
    ):
        return
    for index, target in steps.items():
        thoughts[index].options.clear()
        thoughts[index].options[target] = (0.95, "exact")
    for index, thought in enumerate(thoughts):
        # A tier column that contains percentages is a discount.
        priced = next((one for one in thought.options if TIER_PRICE.fullmatch(one)), None)
        given = column_content.filled(samples[index]) if priced and index < len(samples) else []
        if priced and given and all(text.rstrip().endswith("%") for text in given):
            thought.options.clear()
            thought.options[f"{priced}.discount"] = (0.95, "exact")


def _find_sizes(
    header: Sequence[str], thoughts: list[ColumnOptions], samples: Sequence[Sequence[str]]
) -> None:
    """Columns named `S`, `M`, `L` or `38`, `39`, `40` that contain numbers of pieces are the stock
    of each size. A row is then a product, and its style number the SKU."""
    for index, size in find_size_columns(header, samples).items():
        thoughts[index].options.clear()
        thoughts[index].options[f"variants.sizes.{size}"] = (0.85, "exact")
        for thought in thoughts:
            group = thought.options.pop("variants.group", None)
            if group is not None:
                thought.options.setdefault("identifiers.sku", group)


def _without_measures(named: list[Candidate], samples: Sequence[str]) -> list[Candidate]:
    """A column named `quantity` that contains `500 g` is the size of a pack, not a stock."""
    quantity = next((one for one in named if one.target == "availability.quantity"), None)
    if quantity is None or not column_content.are_measures(samples):
        return named
    return [Candidate("specifications.pack", quantity.confidence)]


def _with_tax_words(named: list[Candidate], samples: Sequence[str]) -> list[Candidate]:
    """A column named `VAT` that contains `incl. VAT` says whether tax is included."""
    rate = next((one for one in named if one.target == "price.taxRate"), None)
    if rate is None or not column_content.say_if_taxed(samples):
        return named
    return [Candidate("price.taxIncluded", rate.confidence)]


def _with_stock_words(named: list[Candidate], samples: Sequence[str]) -> list[Candidate]:
    """A column named `Stock` may contain `yes` and `sold out`, one named `In stock` numbers."""
    by_target = {one.target: one.confidence for one in named}
    quantity, status = (by_target.get(f"availability.{one}") for one in ("quantity", "status"))
    if quantity is not None and status is None and not column_content.are_numbers(samples):
        return [*named, Candidate("availability.status", quantity * 0.9)]
    if status is not None and quantity is None and column_content.are_amounts(samples):
        return [*named, Candidate("availability.quantity", status)]
    return named


def _similar_names(name: str) -> list[Candidate]:
    key = synonyms.read_hints(name)[1] or header_key(name)
    if len(key) < 5 or key in _NO_MISTAKES:
        return []
    best: dict[str, float] = {}
    for known, score, _ in process.extract(
        key, synonyms.keys(), scorer=fuzz.token_sort_ratio, score_cutoff=MIN_SIMILARITY, limit=5
    ):
        if not _is_misspelt(key, known):
            continue
        for target, strength in synonyms.exact(known).items():
            best[target] = max(best.get(target, 0.0), round(strength * score / 100 * 0.9, 3))
    return [Candidate(target, value) for target, value in sorted(best.items(), key=lambda p: -p[1])]


def _numbers_in(key: str) -> list[str]:
    return [word for word in key.split() if word.isdecimal()]


def _is_misspelt(key: str, known: str) -> bool:
    """An extra or missing word makes another name (`type id`); extra or missing letters a typo."""
    if _numbers_in(key) != _numbers_in(known):
        return False
    if key.count(" ") == known.count(" "):
        # A short word that differs is another word: `supplier aid` is not `supplier id`.
        mine, theirs = set(key.split()), set(known.split())
        return all(
            len(word) >= MIN_MISSPELT_LENGTH
            and any(fuzz.ratio(word, other) >= MIN_WORD_SIMILARITY for other in theirs - mine)
            for word in mine - theirs
        )
    return fuzz.ratio(key.replace(" ", ""), known.replace(" ", "")) >= 94


def _proposal(
    index: int, header: str, thought: ColumnOptions, target: str | None
) -> ColumnProposal:
    confidence, how = thought.options.get(target or "", (0.0, "custom"))
    others = sorted(thought.options.items(), key=lambda pair: -pair[1][0])
    return ColumnProposal(
        index,
        header,
        target,
        confidence,
        how,
        thought.looks_like,
        thought.hints if target is None else thought.hints.for_kind(kind_of(target)),
        tuple(Candidate(other, value) for other, (value, _) in others if other != target)[
            :MAX_ALTERNATIVES
        ],
    )
