"""Profiles over HTTP: versions, TOML and JSON, one org's own."""

from __future__ import annotations

import json
from typing import Any

from tests.api.conftest import Caller, file_of, refused, shaped
from tests.api.test_files import rows_of

from penstock.api.catalog.profile_schemas import ProductFields, ProfilePage, ProfileShape
from penstock.api.jobs.schemas import Preview
from penstock.store.database import Database

BODY: dict[str, Any] = {
    "columns": {"Artikel": {"target": "sku"}, "Preis": {"target": "price", "currency": "EUR"}},
    "decimal": "comma",
}
LIST = "Art.-Nr.;Bezeichnung;Preis netto (EUR);Gewicht (kg)\nA-1;Hammer;9,90;1,5\n"


async def test_a_profile_is_saved_shown_and_found_again(caller: Caller) -> None:
    client = await caller()
    first = shaped(ProfileShape, await client.put("/api/profiles/acme", json=BODY))
    assert (first.version, first.columns["Artikel"].target) == (1, "identifiers.sku")
    text = (await client.get("/api/profiles/acme", headers={"Accept": "application/toml"})).text
    assert 'decimal = "comma"' in text
    changed = text.replace('decimal = "comma"', 'decimal = "point"')
    headers = {"Content-Type": "application/toml"}
    second = await client.put("/api/profiles/acme", content=changed, headers=headers)
    assert shaped(ProfileShape, second).version == 2
    latest = shaped(ProfileShape, await client.get("/api/profiles/acme"))
    assert (latest.version, latest.decimal) == (2, "point")
    old = shaped(ProfileShape, await client.get("/api/profiles/acme?version=1"))
    assert old.decimal == "comma"
    page = shaped(ProfilePage, await client.get("/api/profiles"))
    assert [(one.name, one.version) for one in page.items] == [("acme", 2)]
    assert (await client.delete("/api/profiles/acme")).status_code == 204
    refused(await client.get("/api/profiles/acme"), 404, "NOT_FOUND")
    refused(await client.delete("/api/profiles/acme"), 404, "NOT_FOUND")


async def test_bad_profiles_are_refused(caller: Caller) -> None:
    client = await caller()
    for body in (
        {"columns": {"A": {"target": "nonsense"}}},
        {"columns": {"A": {"target": "sku"}, "B": {"target": "sku"}}},
        {"decimal": "dot"},
        {"colour": "red"},
        {"columns": {"A": {"target": "sku"}}, "rules": {"type": "nonsense"}},
        {"rules": {"$ref": "https://example.com/schema"}},
    ):
        refused(await client.put("/api/profiles/x", json=body), 422, "INVALID_CONFIG")
    headers = {"Content-Type": "application/toml"}
    broken = await client.put("/api/profiles/x", content="= 1", headers=headers)
    refused(broken, 422, "INVALID_CONFIG")
    refused(await client.put("/api/profiles/x", content=b"x"), 415, "UNSUPPORTED_TYPE")


async def test_errors_name_the_setting(caller: Caller) -> None:
    client = await caller()
    for body, place in (
        ({"currency": "EURO"}, ["currency"]),
        ({"weight_unit": "stone?"}, ["weight_unit"]),
        ({"columns": {"A": {"target": "nonsense"}}}, ["columns", "A", "target"]),
        ({"columns": {"A": {"target": "price", "currency": "x"}}}, ["columns", "A", "currency"]),
        ({"columns": {"A": "sku", "B": "sku"}}, ["columns", "B", "target"]),
        ({"required": ["nonsense"]}, ["required"]),
        ({"strict": ["nonsense"]}, ["strict"]),
        ({"values": {"nonsense": {"a": "b"}}}, ["values", "nonsense"]),
        ({"price_guard": -1}, ["price_guard"]),
    ):
        answer = await client.put("/api/profiles/x?dryRun=true", json=body)
        refused(answer, 422, "INVALID_CONFIG")
        assert answer.json()["error"]["details"]["place"] == place, body


async def test_a_profile_is_the_same_as_json_and_as_toml(caller: Caller) -> None:
    """Nothing is saved by a check, and nothing is lost on the way there and back."""
    client = await caller()
    full: dict[str, Any] = {
        "source": "acme", "decimal": "comma", "dates": "dmy", "currency": "EUR",
        "weight_unit": "kg", "length_unit": "mm", "required": [], "strict": ["*"],
        "contract": "freeze", "winner": "last", "key": "gtin", "price_guard": 12.5,
        "values": {"availability.quantity": {"auslauf": "0", "folgt": ""}},
        "rules": {"type": "object", "properties": {"brand": {"type": ["string", "null"]}}},
        "columns": {
            "Nr.": {"target": "identifiers.sku"}, "frei": {"target": None},
            "weg": {"target": "ignore"},
            "ab 10": {"target": "price.tiers.10", "currency": "EUR", "tax_included": False},
            "Gewicht": {"target": "specifications.weight", "unit": "g", "decimal": "point"},
        },
    }  # fmt: skip
    address, toml = "/api/profiles/acme?dryRun=true", "application/toml"
    answer = await client.put(address, json=full)
    first = shaped(ProfileShape, answer)
    assert {name: answer.json()[name] for name in full if name != "columns"} == {
        name: value for name, value in full.items() if name != "columns"
    }
    text = (await client.put(address, json=answer.json(), headers={"Accept": toml})).text
    back = await client.put(address, content=text, headers={"Content-Type": toml})
    assert shaped(ProfileShape, back) == first
    refused(await client.get("/api/profiles/acme"), 404, "NOT_FOUND")


async def test_profiles_are_an_orgs_own(caller: Caller) -> None:
    client, other, viewer = await caller(), await caller("other"), await caller(role="viewer")
    await client.put("/api/profiles/acme", json=BODY)
    refused(await other.get("/api/profiles/acme"), 404, "NOT_FOUND")
    assert shaped(ProfilePage, await other.get("/api/profiles")).items == []
    refused(await viewer.put("/api/profiles/acme", json=BODY), 403, "INSUFFICIENT_PERMISSIONS")
    assert shaped(ProfileShape, await viewer.get("/api/profiles/acme")).name == "acme"


async def test_the_fields_a_column_may_fill_are_listed(caller: Caller) -> None:
    viewer = await caller(role="viewer")
    fields = shaped(ProductFields, await viewer.get("/api/fields")).items
    assert {"title", "sourceId"} <= {field.target for field in fields if field.required}
    assert "price.base.amount" not in {field.target for field in fields}


async def test_profiles_come_in_pages(caller: Caller) -> None:
    client = await caller()
    for name in ("a", "b", "c"):
        await client.put(f"/api/profiles/{name}", json=BODY)
    seen, after = [], ""
    while True:
        answer = await client.get("/api/profiles", params={"pageSize": 2, "after": after})
        page = shaped(ProfilePage, answer)
        seen += [one.name for one in page.items]
        if page.next is None:
            break
        after = page.next
    assert seen == ["a", "b", "c"]
    refused(await client.get("/api/profiles?after=x"), 400, "INVALID_CURSOR")


async def test_a_profile_that_is_not_there_is_said_at_once(caller: Caller, db: Database) -> None:
    client, other = await caller(), await caller("other")
    await other.put("/api/profiles/theirs", json=BODY)
    for name in ("none", "theirs"):
        form = {"config": json.dumps({"profile": name})}
        for call in ("/api/jobs", "/api/extraction/jobs", "/api/jobs/preview"):
            answer = await client.post(call, data=form, files=file_of())
            assert name in refused(answer, 422, "INVALID_CONFIG").detail
    assert await rows_of(db, "jobs") == 0
    await client.put("/api/profiles/none", json=BODY)
    made = await client.post("/api/jobs", data={"config": '{"profile": "none"}'}, files=file_of())
    assert made.status_code == 202


async def test_the_next_file_with_the_same_columns_finds_a_saved_profile(caller: Caller) -> None:
    client = await caller()
    before = shaped(Preview, await client.post("/api/jobs/preview", files=file_of(LIST.encode())))
    columns = {one["column"]: {"target": one["target"]} for one in before.mapping}
    saved = await client.put("/api/profiles/acme", json={"columns": columns, "source": "acme"})
    assert shaped(ProfileShape, saved).fingerprint is not None
    header, row = LIST.splitlines()
    shouted = f"{header.upper()}\n{row}\n"
    turned = "\n".join(";".join(reversed(line.split(";"))) for line in (header, row))
    for text in (LIST, shouted, turned):
        answer = await client.post("/api/jobs/preview", files=file_of(text.encode()))
        found = shaped(Preview, answer)
        assert found.profile["name"] == "acme", text
        assert found.rows[0].result == before.rows[0].result, "units and currency of the header"
        assert found.rows[0].problems == before.rows[0].problems
    other = file_of(LIST.replace("Gewicht (kg)", "Farbe").encode())
    unlike = shaped(Preview, await client.post("/api/jobs/preview", files=other))
    assert unlike.profile["from"] == "proposed"


async def test_a_profile_is_found_after_it_went_through_toml(caller: Caller) -> None:
    client = await caller()
    columns = {"Nr": "sku", "Name": "title"}
    await client.put("/api/profiles/acme", json={"columns": columns})
    toml = {"Accept": "application/toml"}
    text = (await client.get("/api/profiles/acme", headers=toml)).text
    await client.delete("/api/profiles/acme")
    edited = text.replace("[columns.Name]", "[columns.Titel]")
    headers = {"Content-Type": "application/toml"}
    await client.put("/api/profiles/acme", content=edited, headers=headers)
    answer = await client.post("/api/jobs/preview", files=file_of(b"Nr;Titel\n1;Hammer\n"))
    assert shaped(Preview, answer).profile["name"] == "acme"
