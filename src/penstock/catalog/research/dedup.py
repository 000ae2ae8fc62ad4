"""Find offers of the same product.

    gtin         the same GTIN                                             confidence 1.0
    mpn          the same part number of the same brand                    confidence 0.95
    title        titles alike, and no attribute that contradicts           confidence 0.7 to 0.92

Different GTINs, part numbers of one brand, measures, numbers, colours or materials contradict each
other. Two offers of one source are the same product only by GTIN.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from typing import Any, Literal

from rapidfuzz import fuzz

from penstock.catalog.research.offers import OfferKeys, all_keys

MatchedBy = Literal["gtin", "mpn", "title"]
_GTIN, _MPN, _MPN_ALONE = 1.0, 0.95, 0.93
# The least similarity of titles, and the one without a brand on both sides.
_SIMILAR, _SIMILAR_UNBRANDED = 0.80, 0.88
_MOST_IN_BLOCK = 60
# Prices further apart than this are of different packs or products.
_MOST_PRICE_RATIO = 4


@dataclass(frozen=True, slots=True)
class Pair:
    """Two offers that are the same product, by their positions."""

    first: int
    second: int
    by: MatchedBy
    confidence: float


@dataclass(frozen=True, slots=True)
class Cluster:
    """Offers of one product. ``confidence`` is that of its weakest link; 1 for a single offer."""

    members: tuple[int, ...]
    by: tuple[MatchedBy, ...]
    confidence: float


def deduplicate(products: Sequence[Mapping[str, Any]]) -> list[Cluster]:
    """Clusters in the order of their first offers. The result does not depend on the order in which
    sources answered beyond that."""
    keys = all_keys(products)
    groups = _Groups(keys)
    pairs = [*_exact(keys), *_similar(keys)]
    # The most certain pairs first: a doubtful one must not prevent a certain one.
    for pair in sorted(pairs, key=lambda one: (-one.confidence, one.first, one.second)):
        groups.join(pair)
    return groups.clusters()


def _exact(keys: Sequence[OfferKeys]) -> Iterable[Pair]:
    by_gtin: dict[str, list[int]] = defaultdict(list)
    by_mpn: dict[str, list[OfferKeys]] = defaultdict(list)
    for one in keys:
        if one.gtin is not None:
            by_gtin[one.gtin].append(one.index)
        if len(one.mpn) >= 3:
            by_mpn[one.mpn].append(one)
    for members in by_gtin.values():
        for other in members[1:]:
            yield Pair(members[0], other, "gtin", _GTIN)
    for same in by_mpn.values():
        for one, two in combinations(same[:_MOST_IN_BLOCK], 2):
            if one.brand and one.brand == two.brand:
                yield Pair(one.index, two.index, "mpn", _MPN)
            elif _is_distinctive(one.mpn) and not contradict(one, two):
                # The brand is unknown on one side, and nothing else speaks against it.
                yield Pair(one.index, two.index, "mpn", _MPN_ALONE)


def _similar(keys: Sequence[OfferKeys]) -> Iterable[Pair]:
    """Pairs within blocks of offers that share a word that few others have."""
    counts: dict[str, int] = defaultdict(int)
    for one in keys:
        for word in one.words:
            counts[word] += 1
    blocks: dict[str, list[OfferKeys]] = defaultdict(list)
    for one in keys:
        rare = sorted(one.words, key=lambda word: (counts[word], word))[:4]
        for word in rare:
            blocks[f"w {word}"].append(one)
        if one.brand:
            blocks[f"b {one.brand}"].append(one)
    seen: set[tuple[int, int]] = set()
    for members in blocks.values():
        for one, two in combinations(members[:_MOST_IN_BLOCK], 2):
            place = (one.index, two.index)
            if place in seen:
                continue
            seen.add(place)
            score = title_score(one, two)
            if score is not None:
                yield Pair(*place, "title", score)


def _is_distinctive(mpn: str) -> bool:
    """Long enough, with letters and digits, to be of one maker only."""
    has_digit, has_letter = any(map(str.isdigit, mpn)), any(map(str.isalpha, mpn))
    return len(mpn) >= 6 and has_digit and has_letter


def title_score(one: OfferKeys, two: OfferKeys) -> float | None:
    """The confidence that titles give; None if they are not alike enough or contradict."""
    if one.source == two.source or contradict(one, two) or not one.words or not two.words:
        return None
    sort = fuzz.token_sort_ratio(one.text, two.text) / 100
    both = fuzz.token_set_ratio(one.text, two.text) / 100
    alike = 0.6 * both + 0.4 * sort
    branded = bool(one.brand) and one.brand == two.brand
    if alike < (_SIMILAR if branded else _SIMILAR_UNBRANDED):
        return None
    shared = one.measures & two.measures or one.numbers & two.numbers
    if not shared and not branded and alike < 0.95:
        return None
    score = 0.45 + 0.35 * alike + (0.03 if shared else 0.0) + (0.04 if branded else 0.0)
    # Of several products that an offer fits, the one with the closest price.
    return round(min(0.92, score + 0.05 * _price_likeness(one, two)), 3)


def _price_likeness(one: OfferKeys, two: OfferKeys) -> float:
    if not one.price or not two.price:
        return 0.5
    low, high = sorted((one.price, two.price))
    return float(low / high)


def contradict(one: OfferKeys, two: OfferKeys) -> bool:
    """Whether an attribute says that these are different products."""
    if one.gtin is not None and two.gtin is not None and one.gtin != two.gtin:
        return True
    if one.brand and two.brand and not _same_brand(one.brand, two.brand):
        return True
    if len(one.mpn) >= 3 and len(two.mpn) >= 3 and one.mpn != two.mpn:
        return True
    for mine, theirs in (
        (one.colours, two.colours),
        (one.materials, two.materials),
        (one.sizes, two.sizes),
    ):
        if mine and theirs and not (mine <= theirs or theirs <= mine):
            return True
    return _measures_differ(one, two) or _prices_differ(one, two)


def _same_brand(one: str, two: str) -> bool:
    return one == two or one.startswith(two) or two.startswith(one)


def _measures_differ(one: OfferKeys, two: OfferKeys) -> bool:
    """A kind of measure that both have must agree; so must other numbers, unless one has none."""
    if _pieces(one) != _pieces(two):
        return True
    kinds = {kind for kind, _ in one.measures} & {kind for kind, _ in two.measures}
    for kind in kinds:
        mine = {amount for name, amount in one.measures if name == kind}
        theirs = {amount for name, amount in two.measures if name == kind}
        if mine.isdisjoint(theirs):
            return True
    if one.numbers and two.numbers:
        return not (one.numbers <= two.numbers or two.numbers <= one.numbers)
    return False


def _pieces(one: OfferKeys) -> set[Decimal]:
    """How many pieces are sold together; one, where the title says nothing."""
    return {amount for kind, amount in one.measures if kind == "pcs"} or {Decimal(1)}


def _prices_differ(one: OfferKeys, two: OfferKeys) -> bool:
    if not one.price or not two.price:
        return False
    low, high = sorted((one.price, two.price))
    return high > low * _MOST_PRICE_RATIO


class _Groups:
    """Joins offers, unless the groups they are in contradict each other."""

    def __init__(self, keys: Sequence[OfferKeys]) -> None:
        self._keys = keys
        self._group_of = list(range(len(keys)))
        self._members: dict[int, list[int]] = {n: [n] for n in range(len(keys))}
        self._pairs: dict[int, list[Pair]] = {n: [] for n in range(len(keys))}

    def join(self, pair: Pair) -> None:
        one, two = self._group_of[pair.first], self._group_of[pair.second]
        if one == two:
            return
        if not self._may_join(one, two, pair):
            return
        keep, gone = min(one, two), max(one, two)
        for member in self._members[gone]:
            self._group_of[member] = keep
        self._members[keep] += self._members.pop(gone)
        self._pairs[keep] += [*self._pairs.pop(gone), pair]

    def _may_join(self, one: int, two: int, pair: Pair) -> bool:
        mine = [self._keys[n] for n in self._members[one]]
        theirs = [self._keys[n] for n in self._members[two]]
        gtins = {key.gtin for key in (*mine, *theirs) if key.gtin is not None}
        if len(gtins) > 1:
            return False
        if pair.by != "title":
            return True
        if {key.source for key in mine} & {key.source for key in theirs}:
            return False
        return not any(contradict(a, b) for a in mine for b in theirs)

    def clusters(self) -> list[Cluster]:
        found = []
        for group, members in sorted(self._members.items()):
            pairs = self._pairs[group]
            confidence = min((pair.confidence for pair in pairs), default=1.0)
            by = tuple(dict.fromkeys(pair.by for pair in pairs))
            found.append(Cluster(tuple(sorted(members)), by, confidence))
        return found
