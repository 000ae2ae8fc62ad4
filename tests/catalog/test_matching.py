"""Which product a row means, whatever the catalog holds."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.catalog.products.matching import (
    MAX_LINKS,
    Candidates,
    Identifiers,
    Match,
    identifiers_of,
    maker_key,
)
from penstock.catalog.values.gtin import check_digit
from penstock.model.products import KnownProduct, LinkCandidate, ProductName, ProductPair

SOURCES = ("acme", "bolt", "file")
GTINS = tuple(f"0{body}{check_digit(body)}" for body in ("400000000000", "400000000001"))
MAKERS = tuple(maker_key(brand, "X-1") for brand in ("Bosch", "Makita"))
few = st.sampled_from


@st.composite
def products(draw: st.DrawFn) -> list[KnownProduct]:
    """Several sources, few names: collisions everywhere; unique by (source, source id)."""
    named = draw(st.lists(st.tuples(few(SOURCES), few("1234")), max_size=8, unique=True))
    found = []
    for number, (source, source_id) in enumerate(named):
        sku = draw(few((None, "1", "2", "A")))
        gtin = draw(few((None, *GTINS)))
        found.append(KnownProduct(UUID(int=number), source, source_id, sku, gtin, 1, True, {}))
    return found


def links_of(known: list[KnownProduct], makers: list[str | None]) -> list[LinkCandidate]:
    return [
        LinkCandidate(one.id, one.source, one.source_id, one.sku, one.gtin, maker, None)
        for one, maker in zip(known, makers, strict=False)
    ]


names = st.builds(
    Identifiers,
    few((None, "1", "2", "9")), few((None, "1", "2", "A")), few((None, *GTINS)),
    few((None, *MAKERS)),
)  # fmt: skip
keys = few((None, "sku", "gtin"))


@given(few(SOURCES), products(), names, keys)
def test_another_source_is_written_by_the_shared_key_alone(
    source: str, known: list[KnownProduct], row: Identifiers, key: str | None
) -> None:
    match = Candidates(source, known, key).match(row)
    if match.product is not None and match.product.source != source:
        assert key is not None
        assert match.by == key
        assert getattr(match.product, str(key)) == getattr(row, str(key))


@given(few(SOURCES), products(), names, keys)
def test_contradicting_gtins_never_match(
    source: str, known: list[KnownProduct], row: Identifiers, key: str | None
) -> None:
    match = Candidates(source, known, key).match(row)
    if match.product is None or None in (row.gtin, match.product.gtin):
        assert not match.contradicts
    elif row.gtin != match.product.gtin:
        # The supplier's own id is there already, so that no second product can be made: asked.
        assert match.contradicts
        assert (match.product.source, match.product.source_id) == (source, row.id)


@given(few(SOURCES), products(), names, keys, st.randoms())
def test_the_order_in_which_products_are_found_decides_nothing(
    source: str, known: list[KnownProduct], row: Identifiers, key: str | None, chance: object
) -> None:
    shuffled = list(known)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = Candidates(source, known, key), Candidates(source, shuffled, key)
    assert one.match(row) == other.match(row)


@given(few(SOURCES), products(), names, keys, st.lists(few((None, *MAKERS)), min_size=8))
def test_links_are_of_other_sources_and_never_contradict(
    source: str,
    known: list[KnownProduct],
    row: Identifiers,
    key: str | None,
    makers: list[str | None],
) -> None:
    candidates = Candidates(source, known, key, links_of(known, makers))
    match = candidates.match(row)
    links = candidates.links(row, match)
    assert len(links) <= MAX_LINKS
    assert len({link.product.id for link in links}) == len(links)
    for link in links:
        assert link.product.source != source
        assert match.product is None or link.product.id != match.product.id
        assert None in (row.gtin, link.product.gtin) or row.gtin == link.product.gtin
        if link.by == "gtin":
            assert row.gtin == link.product.gtin
        else:
            assert row.maker == link.product.maker


@given(few(SOURCES), products(), names)
def test_a_match_inside_the_source_is_not_missed(
    source: str, known: list[KnownProduct], row: Identifiers
) -> None:
    """By hand: the first of source id, SKU and GTIN that a product of the source shares."""
    own = [one for one in known if one.source == source]
    agree = [one for one in own if None in (row.gtin, one.gtin) or row.gtin == one.gtin]
    expected = (
        [one for one in own if row.id is not None and one.source_id == row.id]
        or [one for one in agree if row.sku is not None and one.sku == row.sku]
        or [one for one in agree if row.gtin is not None and one.gtin == row.gtin]
    )
    found = Candidates(source, known).match(row).product
    assert found == min(expected, key=lambda one: one.id, default=None)


@given(
    products(),
    st.lists(few((None, *MAKERS)), min_size=8),
    st.sets(st.tuples(few(range(8)), few(range(8)))),
)
def test_links_are_symmetrical_and_a_decided_pair_is_not_proposed(
    known: list[KnownProduct], makers: list[str | None], pairs: set[tuple[int, int]]
) -> None:
    """Each product asks with its own identifiers; few enough that none is left out by a bound."""
    decided: dict[ProductName, set[ProductName]] = {}
    for one, other in ((known[a], known[b]) for a, b in pairs if max(a, b) < len(known)):
        if one.source != other.source:
            decided.setdefault(name_of(one), set()).add(name_of(other))
            decided.setdefault(name_of(other), set()).add(name_of(one))
    all_links = [
        replace(link, decided=frozenset(decided.get(ProductName(link.source, link.source_id), ())))
        for link in links_of(known, makers)
    ]
    proposed: dict[ProductName, set[ProductName]] = {}
    for one, maker in zip(known, makers, strict=False):
        asked = Identifiers(one.source_id, one.sku, one.gtin, maker)
        others = [link for link in all_links if link.source != one.source]
        found = Candidates(one.source, [one], None, others).links(asked, Match(one, "sourceId"))
        names = [ProductName(link.product.source, link.product.source_id) for link in found]
        assert len(set(names)) == len(names)
        assert not set(names) & decided.get(name_of(one), set())
        proposed[name_of(one)] = set(names)
    for name, others_of in proposed.items():
        for back in others_of:
            # At its bound a product may leave some out.
            assert name in proposed[back] or len(proposed[back]) == MAX_LINKS


def name_of(one: KnownProduct) -> ProductName:
    return ProductName(one.source, one.source_id)


@given(st.tuples(st.text(), st.text()), st.tuples(st.text(), st.text()), st.integers(1, 9))
def test_a_pair_has_one_id_in_either_order(
    one: tuple[str, str], other: tuple[str, str], org_id: int
) -> None:
    first, second = ProductName(*one), ProductName(*other)
    if first.source == second.source:
        with pytest.raises(ValueError, match="two sources"):
            ProductPair.of(first, second)
        return
    pair = ProductPair.of(first, second)
    assert pair.id(org_id) == ProductPair.of(second, first).id(org_id)
    assert pair.id(org_id) != pair.id(org_id + 1)
    moved = ProductPair.of(ProductName(first.source, first.source_id + "x"), second)
    assert pair.id(org_id) != moved.id(org_id)


def test_numbers_that_each_shop_gives_out_itself_link_nothing() -> None:
    own_number = "0" + "212345000000" + check_digit("212345000000")
    other = LinkCandidate(UUID(int=1), "bolt", "1", None, own_number, None, None)
    candidates = Candidates("acme", [], None, [other])
    assert candidates.links(Identifiers(gtin=own_number), candidates.match(Identifiers())) == []


def test_makers_are_compared_without_the_case_of_letters() -> None:
    one = identifiers_of({"brand": "BOSCH", "identifiers": {"mpn": "ab-1"}})
    other = identifiers_of({"brand": "Bosch", "identifiers": {"mpn": "AB-1"}})
    assert one.maker is not None
    assert one.maker == other.maker
    assert identifiers_of({"brand": "Bosch", "identifiers": {}}).maker is None
