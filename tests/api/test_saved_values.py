"""Unreadable words of a supplier are offered, saved, and read in the next file."""

from __future__ import annotations

from typing import Any

import httpx2
from tests.api.conftest import Caller, file_of, refused, shaped
from tests.api.test_items import all_items
from tests.fixtures import Bench

from penstock.api.catalog.saved_values import UnreadWords, WordPage
from penstock.api.jobs.schemas import FullJob
from penstock.catalog.profiles import profile as profiles

HEAD = "SKU;Title;Price;Stock\n"
# German, Polish and French words for a product that is no longer made or sold by the set.
WORDS = ("Letzter Rest", "ostatnia szt.?", "bientôt là")


def goods(word: str, first: int = 0) -> bytes:
    plain = "".join(f"P-{n};Thing {n};1.50;{n}\n" for n in range(first, first + 20))
    odd = "".join(f"Q-{n};Odd {n};2.50;{word}\n" for n in range(first, first + 3))
    return (HEAD + plain + odd).encode()


async def run(client: httpx2.AsyncClient, bench: Bench, content: bytes, source: str) -> str:
    config = f'{{"intent": "merge", "source": "{source}", "currency": "EUR"}}'
    made = await client.post("/api/jobs", files=file_of(content), data={"config": config})
    await bench.work()
    return str(made.headers["location"])


async def test_a_word_is_offered_saved_and_read_in_the_next_file(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    for place, word in enumerate(WORDS):
        source = f"supplier-{place}"
        path = await run(client, bench, goods(word), source)
        offered = shaped(UnreadWords, await client.get(f"{path}/unread-values"))
        assert offered.source == source
        [one] = offered.items
        assert (one.column, one.field, one.value) == ("Stock", "availability.quantity", word)
        assert (one.rows, one.first_row) == (3, 21)
        order = {"source": source, "field": one.field, "word": word.upper(), "value": "4"}
        assert (await client.put("/api/saved-values", json=order)).is_success
        again = await run(client, bench, goods(word, 50), source)
        items = await all_items(client, again.rsplit("/", 1)[1], "pageSize=50")
        odd: Any = items[20].normalized
        assert odd["product"]["availability"]["quantity"] == 4
        assert odd["lineage"]["availability.quantity"][1:3] == [word, "saved_value"]
        assert not shaped(UnreadWords, await client.get(f"{again}/unread-values")).items
        # Other suppliers mean something else by it, and the first file changes when it is remapped.
        other = await run(client, bench, goods(word, 90), "other")
        assert len(shaped(UnreadWords, await client.get(f"{other}/unread-values")).items) == 1
        await client.post(f"{path}/remap", json={"config": {"source": source}})
        await bench.work()
        assert not shaped(UnreadWords, await client.get(f"{path}/unread-values")).items
        assert shaped(FullJob, await client.get(path)).state == "done"


async def test_the_same_file_again_does_not_reuse_the_old_results(
    client: httpx2.AsyncClient, bench: Bench
) -> None:
    content = goods("am Lager?!")
    await run(client, bench, content, "acme")
    order = {"source": "acme", "field": "quantity", "word": "am Lager?!", "value": ""}
    assert (await client.put("/api/saved-values", json=order)).is_success
    path = await run(client, bench, content, "acme")
    assert not shaped(UnreadWords, await client.get(f"{path}/unread-values")).items


async def test_words_are_listed_changed_and_forgotten(caller: Caller) -> None:
    client, other, viewer = await caller(), await caller("other"), await caller(role="viewer")
    order = {"source": "acme", "field": "availability.quantity", "word": " Auslauf ", "value": "0"}
    refused(await viewer.put("/api/saved-values", json=order), 403, "INSUFFICIENT_PERMISSIONS")
    assert (await client.put("/api/saved-values", json=order)).json()["word"] == "auslauf"
    assert (await client.put("/api/saved-values", json=order | {"value": "1"})).is_success
    assert (await client.put("/api/saved-values", json=order | {"word": "bald"})).is_success
    page = shaped(WordPage, await client.get("/api/saved-values?pageSize=1"))
    assert [(one.word, one.value) for one in page.items] == [("auslauf", "1")]
    page = shaped(WordPage, await client.get(f"/api/saved-values?pageSize=1&after={page.next}"))
    assert ([one.word for one in page.items], page.next) == (["bald"], None)
    assert not shaped(WordPage, await other.get("/api/saved-values")).items
    query = {"source": "acme", "field": "availability.quantity", "word": "Auslauf"}
    assert (await client.delete("/api/saved-values", params=query)).status_code == 204
    assert len(shaped(WordPage, await client.get("/api/saved-values")).items) == 1
    unknown = await client.put("/api/saved-values", json=order | {"field": "colour of it"})
    refused(unknown, 422, "INVALID_PARAMETERS")


def test_a_profile_has_words_of_its_own() -> None:
    text = 'name = "acme"\n[values."availability.quantity"]\nAuslauf = "0"\n'
    profile = profiles.from_toml(text)
    assert profile.values == {"availability.quantity": {"auslauf": "0"}}
    assert profiles.from_toml(profile.to_toml()) == profile
    assert profiles.from_json(profiles.to_json(profile)) == profile
    more = profiles.with_values(profile, {"availability.quantity": {"bald": "1", "auslauf": ""}})
    assert more.values["availability.quantity"] == {"auslauf": "", "bald": "1"}
