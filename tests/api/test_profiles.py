"""Profiles over HTTP: versions, TOML and JSON, one org's own."""

from __future__ import annotations

import json
from typing import Any

from tests.api.conftest import Caller, file_of, refused, shaped
from tests.api.test_files import rows_of

from penstock.api.schemas import ProductFields, ProfilePage, ProfileShape
from penstock.store.database import Database

BODY: dict[str, Any] = {
    "columns": {"Artikel": {"target": "sku"}, "Preis": {"target": "price", "currency": "EUR"}},
    "decimal": "comma",
    "fingerprint": "abc",
}


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
    ):
        refused(await client.put("/api/profiles/x", json=body), 422, "INVALID_CONFIG")
    headers = {"Content-Type": "application/toml"}
    broken = await client.put("/api/profiles/x", content="= 1", headers=headers)
    refused(broken, 422, "INVALID_CONFIG")
    refused(await client.put("/api/profiles/x", content=b"x"), 415, "UNSUPPORTED_TYPE")


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
