"""Read headers that are in no list by what their words mean.

`Czas wysyłki`, `Planlieferzeit` and `shipping time` consist of the same meanings, in any order and
language. `Custom SKU` has one word that tells the field.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise

from penstock.catalog.fields import BY_TARGET
from penstock.catalog.mapping.header_words import JOINING, MEANT, without_brackets
from penstock.catalog.mapping.synonyms import Candidate, header_key, known_names, read_hints
from penstock.catalog.word_lists import MOST_CACHED_NAMES, load, phrases, words

_LISTS = load("header_words")
# Confidence factors.
_SAME_MEANING, _ONE_WORD = 0.85, 0.65
_ADDED = words(_LISTS["neutral"])
_ESSENTIAL = tuple(frozenset(one.split()) for one in phrases(_LISTS["essential"]))
_OF_SELLER_OR_MAKER = tuple(
    frozenset(one.split()) for one in phrases(_LISTS["of the seller or the maker"])
)
_OF_SUPPLIERS = words(_LISTS["numbers of the supplier"])
_AT_SUPPLIER = words(_LISTS["at the supplier"])
_ANY_NUMBER = frozenset({"number", "code", "id"})
_CHANGES = words(_LISTS["changes the meaning"]) | words(_LISTS["changes the meaning in brackets"])
# In names of columns these three mean the same.
_THE_PRODUCT = frozenset({"product", "article", "item"})
# Shorter parts of a compound occur by chance, but for these.
_MIN_PART_LENGTH = 4
_PARTS = frozenset(
    part for part in {*MEANT, *MEANT.values(), *_ADDED} if len(part) >= _MIN_PART_LENGTH
) | {"nr", "tid"}  # fmt: skip
# Letters between the parts of a compound: `Leveringstid`, `Artikelennummer`.
_LINKS = ("", "s", "es", "n", "en")
MAX_COMPOUND_LENGTH = 40
# Words that mean nothing without those that were left out: `Sales tax code`.
_TOO_SHORT = frozenset(
    {"code", "number", "name", "id", "reference", "group", "rate", "date", "time", "level", "tax"}
)
# With these words a name means something else without `product`.
_NOT_OF_THE_PRODUCT = frozenset({"supplier", "manufacturer"})


def fields_meant(header: str) -> list[Candidate]:
    """Fields by what the words of the header mean, where it is in no list: `Czas wysyłki`,
    `Planlieferzeit`, and `Custom SKU` by its one telling word."""
    if (numbered := _numbered(header)) is not None:
        return numbered
    forms = [header, *([rest] if (rest := without_brackets(header)) else [])]
    for form in forms:
        key, bare = header_key(form), read_hints(form)[1]
        for one in dict.fromkeys((key, bare)):
            if found := _same_meaning(one):
                return [
                    Candidate(to, round(_SAME_MEANING * value, 3)) for to, value in found.items()
                ]
    said = meaning(header_key(header))
    if any(core < said and _CHANGES.isdisjoint(said) for core in _OF_SELLER_OR_MAKER):
        return [Candidate("identifiers.sku", 0.65), Candidate("identifiers.mpn", 0.6)]
    core = _essential(said)
    return [
        Candidate(target, round(_ONE_WORD * strength, 3))
        for target, strength in _meaning_index().get(core, {}).items()
    ]


@lru_cache(maxsize=MOST_CACHED_NAMES)
def names_supplier_number(header: str) -> bool:
    """Whether a header names the number by which the supplier knows the product: `Lev. varenr.`,
    `Réf. fournisseur`, `Kod u dostawcy`. `Vendor Part Number` is that of the maker."""
    names = header_key(header).split()
    said = meaning(" ".join(names)) | frozenset(names) & _OF_SUPPLIERS
    if "supplier" not in said or ("part" in said and not {"vendor", "vendors"}.isdisjoint(names)):
        return False
    rest = said - _ANY_NUMBER - _ADDED - {"supplier"}
    if rest and rest <= _AT_SUPPLIER:
        return not said.isdisjoint(_ANY_NUMBER)
    rest -= _AT_SUPPLIER
    return bool(rest) and rest <= _OF_SUPPLIERS


def _numbered(header: str) -> list[Candidate] | None:
    """`zdjecie_dodatkowe_2`: a further column of a field that takes several."""
    names = header_key(header).split()
    numbers = [name for name in names if name.isdecimal()]
    if len(numbers) != 1 or len(names) < 2 or len(numbers[0]) > 2:
        return None
    found = _same_meaning(" ".join(name for name in names if not name.isdecimal()))
    return [
        Candidate(to, round(_SAME_MEANING * value, 3))
        for to, value in found.items()
        if to in BY_TARGET and BY_TARGET[to].many
    ] or None


def _same_meaning(key: str) -> dict[str, float]:
    index, said = _meaning_index(), meaning(key)
    if len(said) == 1 and " " not in key:
        return {}  # A single word is in the lists or too general: `Art`, `Sales`.
    said = _without_neutral(said)
    shorter = [said, said - {"sales"}]
    if said.isdisjoint(_NOT_OF_THE_PRODUCT):
        shorter.append(said - {"product", "sales"})
    return next((index[one] for one in shorter if one in index and not one <= _TOO_SHORT), {})


@cache
def _meaning_index() -> dict[frozenset[str], dict[str, float]]:
    """The same index by what the words mean. Of several fields the clearest stay."""
    index: dict[frozenset[str], dict[str, float]] = {}
    for key, targets in known_names().items():
        found = index.setdefault(meaning(key), {})
        # `preço de` (former price) is not a clear name of the price.
        whole = 0.99 if _has_joining_words(key) else 1.0
        for target, strength in targets.items():
            found[target] = max(found.get(target, 0.0), strength * whole)
    index.pop(frozenset(), None)
    return {
        said: {target: one for target, one in found.items() if one == max(found.values())}
        for said, found in index.items()
    }


@lru_cache(maxsize=MOST_CACHED_NAMES)
def meaning(key: str) -> frozenset[str]:
    """What the words of a key mean, in any order, compounds split and neutral words left out:
    `kod producenta`, `code fabricant` and `herstellercode` are equal. Empty where the order
    matters: a price unit is not a unit price."""
    said: list[str] = []
    for word in key.split():
        for part in [word] if word in MEANT else _split_compound(word) or [word]:
            one = MEANT.get(part, part)
            said.append("product" if one in _THE_PRODUCT else one)
    for before, after in pairwise(said):
        if before == "unit" and after in ("price", "cost"):
            said.remove("unit")
            break
    found = frozenset(said) - JOINING
    return frozenset() if "unit" in found and len(found) > 1 else found


def _has_joining_words(key: str) -> bool:
    return not JOINING.isdisjoint(key.split())


def _without_neutral(said: frozenset[str]) -> frozenset[str]:
    return said - _ADDED


def _essential(said: frozenset[str]) -> frozenset[str]:
    """The one meaning among these that tells the field whatever else a name says: `Custom SKU`.
    Empty if there is none or another word changes it: `Parent SKU`."""
    cores = [core for core in _ESSENTIAL if core <= said]
    if len(cores) == 1 and _CHANGES.isdisjoint(said - cores[0]):
        return cores[0]
    return frozenset()


def _split_compound(word: str) -> list[str]:
    """The known words that a word is joined of, empty if it is not."""
    if not 2 * _MIN_PART_LENGTH - 2 <= len(word) <= MAX_COMPOUND_LENGTH:
        return []
    ways: dict[int, list[str]] = {0: []}
    for start in range(len(word)):
        if start in ways:
            for part, end in _parts_at(word, start):
                ways.setdefault(end, [*ways[start], part])
    return ways.get(len(word), [])


def _parts_at(word: str, start: int) -> Iterator[tuple[str, int]]:
    """Known words that begin at a place, the longest first, with where the next one begins."""
    for end in range(len(word), start + 1, -1):
        if word[start:end] in _PARTS:
            for link in _LINKS if end < len(word) else ("",):
                if word.startswith(link, end):
                    yield word[start:end], end + len(link)
