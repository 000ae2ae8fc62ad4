"""Products edited by hand: kept by imports, shown in the history, undone."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from tests.api.conftest import Caller, refused, shaped
from tests.api.test_items import all_items
from tests.api.test_products import applied, listed, one
from tests.fixtures import Bench

from penstock.api.catalog.product_edits import PriceHistory, ProductEdited
from penstock.api.catalog.product_schemas import FullProduct, ProductHistory
from penstock.store.database import Database

HEAD = "SKU;EAN;Title;Brand;Price;Currency\n"


def goods(price: str = "9.90", title: str = "Hamer") -> bytes:
    return f"{HEAD}E-1;4006381333931;{title};Hultafors;{price};EUR\n".encode()


async def edit(
    client: httpx2.AsyncClient, product: FullProduct, version: int | None = None, **fields: Any
) -> ProductEdited:
    named = {name.replace("__", "."): value for name, value in fields.items()}
    order: dict[str, Any] = {"fields": named}
    if version is not None:
        order["version"] = version
    return shaped(ProductEdited, await client.patch(f"/api/products/{product.id}", json=order))


async def history(client: httpx2.AsyncClient, product: FullProduct) -> ProductHistory:
    return shaped(ProductHistory, await client.get(f"/api/products/{product.id}/history"))


async def undo(client: httpx2.AsyncClient, product: FullProduct, edit_id: Any) -> ProductEdited:
    path = f"/api/products/{product.id}/edits/{edit_id}/undo"
    return shaped(ProductEdited, await client.post(path))


@pytest.mark.parametrize("intent", ["merge", "replace", "update"])
async def test_an_edited_field_is_kept_by_imports(
    client: httpx2.AsyncClient, bench: Bench, intent: str
) -> None:
    await applied(client, bench, goods())
    product = await one(client, sku="E-1")
    done = await edit(client, product, title="Hammer", price__amount="8.50")
    assert (done.version, len(done.changes)) == (2, 2)
    changed = goods("9.95").replace(b"Hultafors", b"Bahco")
    job = await applied(client, bench, changed, intent=intent)
    after = await one(client, sku="E-1")
    assert (after.title, after.brand) == ("Hammer", "Bahco")
    assert after.price is not None
    assert after.price["amount"] == "8.50"
    assert after.kept_fields == ["price.amount", "title"]
    assert (after.lineage["title"].rule, after.lineage["brand"].raw) == ("edited", "Bahco")
    # The row tells what the file has instead.
    [item] = await all_items(client, job, "pageSize=5")
    assert item.normalized is not None
    match = item.normalized["match"]
    assert [change["field"] for change in match["changes"]] == ["brand"]
    assert match["kept"] == [
        {"field": "price.amount", "kept": "8.50", "file": "9.95"},
        {"field": "title", "kept": "Hammer", "file": "Hamer"},
    ]
    assert item.normalized["product"]["title"] == "Hamer"
    # The same file again changes nothing.
    again = await applied(
        client, bench, goods("9.95").replace(b"Hultafors", b"Bahco"), intent=intent
    )
    [item] = await all_items(client, again, "pageSize=5")
    assert item.result is not None
    assert item.result["match"] == "unchanged"


async def test_history_undo_and_the_undo_of_jobs(client: httpx2.AsyncClient, bench: Bench) -> None:
    first = await applied(client, bench, goods())
    product = await one(client, sku="E-1")
    done = await edit(client, product, title="Hammer", brand=None)
    found = (await history(client, product)).items
    assert [change.kind for change in found] == ["edited", "created"]
    assert (found[0].edit_id, found[0].edited_by) == (done.edit_id, "member@acme")
    assert found[0].changes is not None
    assert [(c.field, c.before, c.after) for c in found[0].changes] == [
        ("brand", "Hultafors", None), ("title", "Hamer", "Hammer"),
    ]  # fmt: skip
    # A job is not undone over an edit; after the edit is undone, it is.
    answer = (await client.post(f"/api/jobs/{first}/undo")).json()
    assert (answer["deleted"], answer["refusedCount"]) == (0, 1)
    await undo(client, product, done.edit_id)
    before = await one(client, sku="E-1")
    assert (before.title, before.brand, before.kept_fields) == ("Hamer", "Hultafors", [])
    assert before.version == product.version
    assert before.lineage == product.lineage
    assert (await history(client, product)).items[0].undone_at is not None
    path = f"/api/products/{product.id}/edits/{done.edit_id}/undo"
    refused(await client.post(path), 409, "INVALID_STATE")
    # A version that was taken back is not given again.
    assert (await edit(client, product, title="Mallet")).version == 3
    assert (await client.post(f"/api/jobs/{first}/undo")).json()["refusedCount"] == 1


async def test_an_edit_is_undone_after_an_import(client: httpx2.AsyncClient, bench: Bench) -> None:
    await applied(client, bench, goods())
    product = await one(client, sku="E-1")
    first = await edit(client, product, title="Hammer", brand="Picard")
    second = await edit(client, product, brand="Gedore")
    await applied(client, bench, goods("10.50"))
    done = await undo(client, product, first.edit_id)
    # The brand was edited again since, so that it stays.
    assert [(c.field, c.after) for c in done.changes] == [("title", "Hamer")]
    after = await one(client, sku="E-1")
    assert (after.title, after.brand, after.kept_fields) == ("Hamer", "Gedore", ["brand"])
    kinds = [change.kind for change in (await history(client, product)).items]
    assert kinds == ["undone", "changed", "edited", "edited", "created"]
    await applied(client, bench, goods("10.60", "Claw hammer"))
    assert (await one(client, sku="E-1")).title == "Claw hammer"
    await undo(client, product, second.edit_id)
    assert (await one(client, sku="E-1")).kept_fields == []


async def test_values_that_cannot_be_set(
    client: httpx2.AsyncClient, bench: Bench, caller: Caller, db: Database
) -> None:
    await applied(client, bench, goods())
    product = await one(client, sku="E-1")
    path = f"/api/products/{product.id}"
    for fields in (
        {"price.amount": "12,90"}, {"price.currency": "Euro!"}, {"title": " "}, {"source": "x"},
        {"identifiers.gtin": "4006381333932"}, {"availability.quantity": "many"},
        {"availability.status": "soon"}, {"published": "yes"}, {"metadata.url": "no url"},
        {"price.currency": None}, {"identifiers.sku": "X"},
    ):  # fmt: skip
        answer = await client.patch(path, json={"fields": fields})
        refused(answer, 422, "INVALID_PARAMETERS")
    stale = {"fields": {"title": "Axe"}, "version": 7}
    refused(await client.patch(path, json=stale), 409, "INVALID_STATE")
    assert (await edit(client, product, title="Hamer")).edit_id is None
    assert (await one(client, sku="E-1")).version == 1
    stranger = await caller("other")
    refused(await stranger.patch(path, json={"fields": {"title": "X"}}), 404, "NOT_FOUND")
    async with db.acquire() as conn:
        assert await conn.fetchval("SELECT count(*) FROM product_edits") == 0


async def test_status_gtin_and_derived_values(client: httpx2.AsyncClient, bench: Bench) -> None:
    content = b"SKU;EAN;Title;Price;Unit;Pack\nU-1;4006381333931;Nails;5.00 EUR;100 g;1 kg\n"
    await applied(client, bench, content)
    product = await one(client, sku="U-1")
    await edit(client, product, published="false", identifiers__gtin="4012345678901",
               price__amount="6.00")  # fmt: skip
    after = await one(client, sku="U-1")
    assert (after.status, after.gtin) == ("unpublished", "04012345678901")
    assert after.price is not None
    assert "perUnit" not in after.price
    # The supplier's GTIN is no question any more: a person has decided.
    job = await applied(client, bench, content.replace(b"Nails", b"Nails 40"))
    [item] = await all_items(client, job, "pageSize=5")
    assert item.status == "DONE"
    last = await one(client, sku="U-1")
    assert (last.title, last.status, last.gtin) == ("Nails 40", "unpublished", after.gtin)
    assert (await listed(client, edited="true"))[0].id == product.id
    assert await listed(client, edited="false") == []


async def test_prices_of_a_product(client: httpx2.AsyncClient, bench: Bench) -> None:
    for price in ("9.90", "10.50", "10.50", "11.00"):
        await applied(client, bench, goods(price, f"Hammer {price}"))
    product = await one(client, sku="E-1")
    await edit(client, product, title="Other")
    await edit(client, product, price__amount="10.00")
    found = shaped(PriceHistory, await client.get(f"/api/products/{product.id}/prices")).items
    assert [point.amount for point in found] == ["9.90", "10.50", "11.00", "10.00"]
    assert [point.at for point in found] == sorted(point.at for point in found)
    assert {point.currency for point in found} == {"EUR"}
