"""Links between products of two sources: proposed, accepted, refused, undone."""

from __future__ import annotations

import random
from typing import Any

import httpx2
import pytest
from tests.api.conftest import Caller, file_of, refused, shaped
from tests.api.test_products import applied, listed, one
from tests.fixtures import Bench

from penstock.api.catalog.product_link_schemas import (
    DecidedLinkPage,
    JobLink,
    JobLinkPage,
    JobLinksDecided,
    LinksDecided,
)
from penstock.api.catalog.product_schemas import FullProduct
from penstock.model.products import STATE_AFTER, LinkDecision
from penstock.store.database import Database

HEAD = "SKU;Title;Brand;MPN;EAN;Price\n"
ACME = f"{HEAD}A-1;Lamp;Osram;L1;4006381333931;10.00 EUR\nA-2;Saw;Bosch;PST-1;;50.00 EUR\n".encode()
BOLT = (
    f"{HEAD}B-1;Desk lamp;;;4006381333931;9.50 EUR\nB-2;Jigsaw;BOSCH;pst-1;;49.00 EUR\n"
    "B-3;Rope;;;;3.00 EUR\n"
).encode()


async def job_links(client: httpx2.AsyncClient, job: str, **query: Any) -> list[JobLink]:
    """All of it, page by page."""
    found: list[JobLink] = []
    while True:
        page = shaped(JobLinkPage, await client.get(f"/api/jobs/{job}/links", params=query))
        found += page.items
        if page.next is None:
            return found
        query["after"] = page.next


def pairs_of(found: list[JobLink]) -> list[tuple[str, str, str]]:
    return [(one.product.source_id, one.other.source_id, one.by) for one in found]


async def decide(client: httpx2.AsyncClient, decision: str, *pairs: tuple[Any, Any]) -> int:
    order = {
        "decision": decision,
        "pairs": [{"productId": str(a), "otherId": str(b)} for a, b in pairs],
    }
    answer = await client.post("/api/product-links", json=order)
    return shaped(LinksDecided, answer).decided


async def test_a_link_is_proposed_accepted_shown_on_both_sides_and_undone(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    await applied(client, bench, ACME, source="acme")
    job = await applied(client, bench, BOLT, source="bolt")
    found = await job_links(client, job)
    assert pairs_of(found) == [("B-1", "A-1", "gtin"), ("B-2", "A-2", "mpn")]
    assert pairs_of(await job_links(client, job, by="mpn")) == [("B-2", "A-2", "mpn")]
    assert pairs_of(await job_links(client, job, pageSize=1)) == pairs_of(found)
    lamp = found[0]
    assert lamp.product.price is not None
    assert (lamp.row_no, lamp.product.price["amount"], lamp.other.title) == (1, "9.50", "Lamp")
    pair = (lamp.product.product_id, lamp.other.product_id)
    assert await decide(client, "accept", pair) == 1
    # In the other order it is the same pair.
    assert await decide(client, "accept", pair[::-1]) == 0
    for sku, other in (("A-1", "B-1"), ("B-1", "A-1")):
        product = await one(client, sku=sku)
        assert product.links == []
        [linked] = product.linked
        assert (linked.state, linked.by, linked.decided_by) == ("accepted", "gtin", "member@acme")
        assert linked.other.source_id == other
        assert linked.other.price is not None
    assert pairs_of(await job_links(client, job)) == [("B-2", "A-2", "mpn")]
    # Products stay two: the next file changes its own source only, and proposes nothing again.
    again = await applied(client, bench, BOLT.replace(b"9.50", b"9.40"), source="bolt")
    assert pairs_of(await job_links(client, again)) == [("B-2", "A-2", "mpn")]
    assert (await one(client, sku="A-1")).version == 1
    assert await decide(client, "undo", pair) == 1
    assert len((await one(client, sku="A-1")).links) == 1
    assert ("B-1", "A-1", "gtin") in pairs_of(await job_links(client, job))


async def test_a_refused_pair_is_not_proposed_again(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    first = await applied(client, bench, ACME, source="acme")
    job = await applied(client, bench, BOLT, source="bolt")
    answer = await client.post(f"/api/jobs/{job}/links", json={"decision": "refuse", "by": "gtin"})
    assert shaped(JobLinksDecided, answer) == JobLinksDecided(decided=1, skipped=0, next=None)
    for sku in ("A-1", "B-1"):
        product = await one(client, sku=sku)
        assert (product.links, [one.state for one in product.linked]) == ([], ["refused"])
    # Not by the same file, whose results are used again, nor by products that were deleted and
    # imported again.
    same = await applied(client, bench, BOLT, source="bolt")
    assert pairs_of(await job_links(client, same)) == [("B-2", "A-2", "mpn")]
    assert (await client.post(f"/api/jobs/{first}/undo")).json()["deleted"] == 2
    assert await job_links(client, same) == []
    back = await applied(client, bench, ACME, source="acme")
    assert pairs_of(await job_links(client, back)) == [("A-2", "B-2", "mpn")]
    page = shaped(DecidedLinkPage, await client.get("/api/product-links?state=refused&source=bolt"))
    [link] = page.items
    assert (link.product.source_id, link.other.source_id) == ("A-1", "B-1")
    assert not (await client.get("/api/product-links?state=accepted")).json()["items"]


async def test_accepting_all_leaves_out_what_is_not_clear(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    twice = f"{HEAD}A-1;Saw;Bosch;PST-1;;50 EUR\nA-2;Saw, blue;Bosch;PST-1;;51 EUR\n".encode()
    await applied(client, bench, twice, source="acme")
    await applied(client, bench, ACME.replace(b"A-", b"C-"), source="coil")
    job = await applied(client, bench, BOLT, source="bolt")
    answer = await client.post(f"/api/jobs/{job}/links", json={"decision": "accept"})
    assert shaped(JobLinksDecided, answer) == JobLinksDecided(decided=2, skipped=2, next=None)
    assert pairs_of(await job_links(client, job)) == [("B-2", "A-1", "mpn"), ("B-2", "A-2", "mpn")]
    page = shaped(DecidedLinkPage, await client.get("/api/product-links?pageSize=1"))
    assert page.next is not None
    more = await client.get("/api/product-links", params={"pageSize": 1, "after": page.next})
    assert shaped(DecidedLinkPage, more).items[0].id != page.items[0].id


async def test_what_cannot_be_linked(
    client: httpx2.AsyncClient, bench: Bench, caller: Caller, db: Database
) -> None:
    await applied(client, bench, ACME, source="acme")
    job = await applied(client, bench, BOLT, source="bolt")
    ids = {one.sku: str(one.id) for one in await listed(client)}
    pair = {"productId": ids["A-1"], "otherId": ids["A-2"]}
    order = {"decision": "accept", "pairs": [pair]}
    refused(await client.post("/api/product-links", json=order), 422, "INVALID_PARAMETERS")
    # By hand, any two products of two sources.
    assert await decide(client, "accept", (ids["A-1"], ids["B-3"])) == 1
    [linked] = (await one(client, sku="B-3")).linked
    assert linked.by == "manual"
    # To undo what nobody decided changes nothing.
    assert await decide(client, "undo", (ids["A-2"], ids["B-3"])) == 0
    stranger = await caller("other")
    order = {"decision": "accept", "pairs": [{"productId": ids["A-1"], "otherId": ids["B-1"]}]}
    refused(await stranger.post("/api/product-links", json=order), 404, "NOT_FOUND")
    refused(await stranger.get(f"/api/jobs/{job}/links"), 404, "NOT_FOUND")
    assert (await stranger.get("/api/product-links")).json()["items"] == []
    viewer = await caller(role="viewer")
    refused(await viewer.post("/api/product-links", json=order), 403, "INSUFFICIENT_PERMISSIONS")
    async with db.acquire() as conn:
        actions = await conn.fetch("SELECT action, after FROM audit WHERE action LIKE 'link.%'")
    assert [row["action"] for row in actions] == ["link.accept"]


@pytest.mark.parametrize("seed", range(2))
async def test_random_files_and_decisions(
    client: httpx2.AsyncClient, bench: Bench, seed: int
) -> None:
    """Whatever is imported and decided in whichever order: a job proposes no pair twice and none
    that is decided, and two products name each other or neither does."""
    chance = random.Random(seed)
    gtins = ("", "4006381333931", "4012345678901", "9783161484100")
    state: dict[frozenset[tuple[str, str]], str] = {}
    jobs: list[str] = []
    for _ in range(6):
        source = chance.choice(("acme", "bolt", "coil"))
        lines = [
            f"{number};T{number};Bosch;{chance.choice(('', 'M-1', 'M-2'))};{chance.choice(gtins)};1"
            for number in chance.sample(range(1, 5), 3)
        ]
        content = (HEAD + "\n".join(lines) + "\n").encode()
        jobs.append(await applied(client, bench, content, source=source, currency="EUR"))
        found = await job_links(client, chance.choice(jobs))
        for link in chance.sample(found, min(2, len(found))):
            decision: LinkDecision = chance.choice(("accept", "refuse"))
            pair = (link.product.product_id, link.other.product_id)
            assert await decide(client, decision, pair) == 1
            state[key_of(link)] = STATE_AFTER[decision]
        await holds(client, jobs, state)


def key_of(link: JobLink) -> frozenset[tuple[str, str]]:
    return frozenset((side.source, side.source_id) for side in (link.product, link.other))


async def holds(
    client: httpx2.AsyncClient, jobs: list[str], state: dict[frozenset[tuple[str, str]], str]
) -> None:
    for job in jobs:
        keys = [key_of(link) for link in await job_links(client, job)]
        assert len(set(keys)) == len(keys)
        assert not set(keys) & state.keys()
    named: dict[tuple[str, str], FullProduct] = {}
    for short in await listed(client):
        product = shaped(FullProduct, await client.get(f"/api/products/{short.id}"))
        named[product.source, product.source_id] = product
    for name, product in named.items():
        for link in product.links:
            other = (link.source, link.source_id)
            assert frozenset((name, other)) not in state
            back = named[other].links
            assert any((one.source, one.source_id) == name for one in back) or len(back) == 5
        for linked in product.linked:
            other = (linked.other.source, linked.other.source_id)
            assert state[frozenset((name, other))] == linked.state


def named(product: dict[str, str], link: dict[str, Any]) -> dict[str, Any]:
    """A pair as a preview shows it."""
    other = {"source": link["source"], "sourceId": link["sourceId"]}
    return {"product": product, "other": other, "by": link["by"]}


async def test_links_are_decided_before_the_import(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    await applied(client, bench, ACME, source="acme")
    looked = await client.post(
        "/api/jobs/preview", files=file_of(BOLT), data={"config": '{"source": "bolt"}'}
    )
    lamp, saw, rope = looked.json()["rows"]
    assert rope["links"] == []
    assert lamp["product"] == {"source": "bolt", "sourceId": "B-1"}
    for row, decision in ((lamp, "accept"), (saw, "refuse")):
        [link] = row["links"]
        order = {"decision": decision, "namedPairs": [named(row["product"], link)]}
        answer = await client.post("/api/product-links", json=order)
        assert shaped(LinksDecided, answer).decided == 1
    # Neither is proposed again, by a preview or by the import.
    looked = await client.post(
        "/api/jobs/preview", files=file_of(BOLT), data={"config": '{"source": "bolt"}'}
    )
    assert [row["links"] for row in looked.json()["rows"]] == [[], [], []]
    job = await applied(client, bench, BOLT, source="bolt")
    assert await job_links(client, job) == []
    for sku, state in (("B-1", "accepted"), ("B-2", "refused")):
        product = await one(client, sku=sku)
        assert (product.links, [one.state for one in product.linked]) == ([], [state])
    assert [one.by for one in (await one(client, sku="B-1")).linked] == ["gtin"]


async def test_links_of_a_check_are_decided_before_the_import(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    await applied(client, bench, ACME, source="acme")
    check = await applied(client, bench, BOLT, source="bolt", intent="check")
    found = await job_links(client, check)
    assert pairs_of(found) == [("B-1", "A-1", "gtin"), ("B-2", "A-2", "mpn")]
    lamp = found[0].product
    assert (lamp.product_id, lamp.title, lamp.sku) == (None, "Desk lamp", "B-1")
    assert lamp.price is not None
    assert lamp.price["amount"] == "9.50"
    answer = await client.post(f"/api/jobs/{check}/links", json={"decision": "accept"})
    assert shaped(JobLinksDecided, answer) == JobLinksDecided(decided=2, skipped=0, next=None)
    assert await job_links(client, check) == []
    job = await applied(client, bench, BOLT, source="bolt")
    assert await job_links(client, job) == []
    assert [one.state for one in (await one(client, sku="B-2")).linked] == ["accepted"]
    # A job that was undone proposes nothing, although its products are gone.
    other = await applied(client, bench, BOLT.replace(b"B-", b"C-"), source="coil")
    assert len(await job_links(client, other)) == 4
    await client.post(f"/api/jobs/{other}/undo")
    assert await job_links(client, other) == []


async def test_names_that_cannot_be_linked(
    client: httpx2.AsyncClient, bench: Bench, caller: Caller
) -> None:
    await applied(client, bench, ACME, source="acme")
    known, new = {"source": "acme", "sourceId": "A-1"}, {"source": "bolt", "sourceId": "B-1"}
    unknown = {"source": "coil", "sourceId": "C-1"}

    def order(product: dict[str, str], other: dict[str, str]) -> dict[str, Any]:
        pair = {"product": product, "other": other}
        return {"decision": "accept", "namedPairs": [pair]}

    path = "/api/product-links"
    refused(await client.post(path, json=order(new, unknown)), 404, "NOT_FOUND")
    refused(await client.post(path, json=order(known, known)), 422, "INVALID_PARAMETERS")
    refused(await client.post(path, json={"decision": "accept"}), 422, "INVALID_PARAMETERS")
    stranger = await caller("other")
    refused(await stranger.post(path, json=order(new, known)), 404, "NOT_FOUND")
    viewer = await caller(role="viewer")
    refused(await viewer.post(path, json=order(new, known)), 403, "INSUFFICIENT_PERMISSIONS")
    assert shaped(LinksDecided, await client.post(path, json=order(new, known))).decided == 1
