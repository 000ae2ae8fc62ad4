"""Profiles with wrong types, wrong sizes and deep nesting: refused with 4xx, never stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.api.conftest import Caller, file_of, refused
from tests.api.test_files import rows_of

from penstock.catalog.profiles import profile as catalog
from penstock.model.errors import BadInput
from penstock.store.catalog import profiles
from penstock.store.database import Database

TOML = {"Content-Type": "application/toml"}
WRONG: tuple[Any, ...] = (1, 1.5, True, "", "x" * 2000, [], [1], {}, {"a": 1}, None, "\x01", -1)
SCALARS = (
    "name", "version", "source", "fingerprint", "decimal", "dates", "currency", "weight_unit",
    "length_unit", "required", "rules", "contract", "winner", "key", "columns",
)  # fmt: skip
IN_COLUMNS = ("target", "decimal", "dates", "currency", "unit", "tax_included")


def deep(levels: int, leaf: Any = 1) -> Any:
    for _ in range(levels):
        leaf = {"a": leaf}
    return leaf


def wrong_bodies() -> list[dict[str, Any]]:
    bodies: list[dict[str, Any]] = [{name: value} for name in SCALARS for value in WRONG]
    bodies += [{"columns": {"A": {name: value}}} for name in IN_COLUMNS for value in WRONG]
    bodies += [{"columns": {"A": value}} for value in WRONG]
    bodies += [{"required": [value]} for value in WRONG]
    bodies += [{"rules": {"properties": {"a": value}}} for value in WRONG]
    return bodies


async def test_wrong_types_are_refused_or_stored_as_they_are_documented(
    caller: Caller, db: Database
) -> None:
    client = await caller()
    stored = 0
    for body in wrong_bodies():
        answer = await client.put("/api/profiles/x", json=body)
        assert answer.status_code in (200, 400, 422), (body, answer.text)
        stored += answer.status_code == 200
        toml = await client.get("/api/profiles/x", headers={"Accept": "application/toml"})
        assert toml.status_code in (200, 404), (body, toml.text)
    assert await rows_of(db, "profiles") == min(stored, 50)
    async with db.acquire() as conn:
        for text in await conn.fetch("SELECT body::text FROM profiles"):
            kept = json.loads(text[0])
            assert catalog.to_json(catalog.from_json(kept)) == kept


@pytest.mark.parametrize(
    "body",
    [
        {"columns": {str(number): "ignore" for number in range(2001)}},
        {"columns": {"x" * 1001: "sku"}},
        {"required": ["sku"] * 201},
        {"rules": {"description": "x" * 140_000}},
        {"rules": deep(40)},
        {"rules": deep(200)},
        {"source": "x" * 101},
        {"columns": {"A": {"target": "custom", "unit": "x" * 101}}},
    ],
    ids=lambda body: next(iter(body)),
)
async def test_sizes_are_bounded(caller: Caller, db: Database, body: dict[str, Any]) -> None:
    client = await caller()
    refused(await client.put("/api/profiles/x", json=body), 422, "INVALID_CONFIG")
    assert await rows_of(db, "profiles") == 0


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000,
        "a = " + "{b=" * 5000,
        "a" + ".a" * 200_000 + " = 1",
        "['a'" + ".'a'" * 100_000 + "]",
        'a = {"a" . "a"' + ' . "a"' * 50_000 + " = 1}",
        "rules = " + json.dumps("[" * 900 + "]" * 900),
        'rules = "[]"',
        "rules = 2020-01-01",
        "version = 99999999999999999999999",
        "version = nan",
        "decimal = 1979-05-27T07:32:00Z",
        'source = "a\\u0000b"',
        '[columns."a\\u0000b"]\ntarget = "sku"',
        "[columns]\nA = 2020-01-01",
        "[rules]\nminimum = inf",
        "[rules]\nminimum = 2020-01-01",
        "# " + "x" * 600_000,
    ],
    ids=range(17),
)
async def test_hostile_toml_is_refused(caller: Caller, db: Database, text: str) -> None:
    client = await caller()
    sent = text if text.startswith(("a", "[", "#")) else f'name = "x"\n{text}'
    answer = await client.put("/api/profiles/x", content=sent, headers=TOML)
    assert answer.status_code in (413, 422), answer.text
    with pytest.raises(BadInput):
        catalog.from_toml(sent)
    assert await rows_of(db, "profiles") == 0


async def test_the_same_holds_for_the_config_of_a_job(caller: Caller, db: Database) -> None:
    client = await caller()
    configs: list[dict[str, Any]] = [
        {"mapping": {str(number): None for number in range(2001)}},
        {"mapping": {"x" * 1001: "sku"}},
        {"required": ["sku"] * 201},
        {"rules": deep(100)},
        {"rules": {"description": "x" * 140_000}},
        {"currency": "ZZZ"},
        {"format": "x" * 1000},
        {"sheet": "x" * 1000},
        {"member": "x" * 5000},
        {"recordsPath": "x" * 5000},
        {"headerRow": 10**18},
        {"skipRows": 10**18},
        {"sheet": 10**18},
    ]
    for config in configs:
        for call in ("/api/jobs", "/api/jobs/preview"):
            form = {"config": json.dumps(config)}
            answer = await client.post(call, data=form, files=file_of())
            refused(answer, 422, "INVALID_CONFIG")
    assert await rows_of(db, "jobs") == 0


@pytest.mark.parametrize(
    "encoding",
    ["idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined", "utf-7", "rot13",
     "base64", "zlib", "hex", "a\x01b", "x" * 5000, "ＵＴＦ８", ""],
)  # fmt: skip
async def test_only_encodings_of_text_are_taken(caller: Caller, encoding: str) -> None:
    client = await caller()
    form = {"config": json.dumps({"encoding": encoding})}
    answer = await client.post("/api/jobs/preview", data=form, files=file_of())
    refused(answer, 422, "INVALID_CONFIG")
    refused(await client.post("/api/jobs", data=form, files=file_of()), 422, "INVALID_CONFIG")


@pytest.mark.parametrize("encoding", ["utf-8", "UTF-8-SIG", "cp1252", "latin1", "Shift_JIS"])
async def test_encodings_of_text_are_known_by_their_usual_names(
    caller: Caller, encoding: str
) -> None:
    client = await caller()
    form = {"config": json.dumps({"encoding": encoding})}
    answer = await client.post("/api/jobs/preview", data=form, files=file_of())
    assert answer.status_code == 200, answer.text


async def test_files_that_declare_a_hostile_encoding_are_refused(caller: Caller) -> None:
    client = await caller()
    for name in ("idna", "punycode", "unicode_escape", "undefined", "rot13"):
        text = f'<?xml version="1.0" encoding="{name}"?><a><b><c>1</c></b><b><c>2</c></b></a>'
        answer = await client.post("/api/jobs/preview", files=file_of(text.encode(), "a.xml"))
        assert answer.status_code in (200, 422), answer.text


async def test_the_history_of_a_profile_is_bounded(
    caller: Caller, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, kept = await caller(), 8
    monkeypatch.setattr(profiles, "MOST_VERSIONS", kept)
    monkeypatch.setattr(profiles, "MOST_HISTORY_BYTES", 400_000)
    for number in range(kept + 5):
        body = {"columns": {"A": "sku"}, "source": f"s{number}"}
        answer = await client.put("/api/profiles/x", json=body)
        assert answer.json()["version"] == number + 1
    assert await rows_of(db, "profiles") == kept
    refused(await client.get("/api/profiles/x?version=1"), 404, "NOT_FOUND")
    assert (await client.get("/api/profiles/x?version=6")).status_code == 200
    wide = {"columns": {f"{number} {'x' * 60}": "ignore" for number in range(1500)}}
    for _ in range(6):
        assert (await client.put("/api/profiles/x", json=wide)).status_code == 200
    async with db.acquire() as conn:
        size = await conn.fetchval("SELECT sum(length(body::text)) FROM profiles")
    assert 100_000 < size <= profiles.MOST_HISTORY_BYTES
    assert (await client.delete("/api/profiles/x")).status_code == 204
    assert await rows_of(db, "profiles") == 1, "the number of the last version stays known"
    answer = await client.put("/api/profiles/x", json={"columns": {"A": "sku"}})
    assert answer.json()["version"] == kept + 5 + 6 + 1


async def test_audit_does_not_repeat_whole_profiles(caller: Caller, db: Database) -> None:
    client = await caller()
    wide = {"columns": {f"{number} {'x' * 60}": "ignore" for number in range(1500)}}
    for _ in range(3):
        assert (await client.put("/api/profiles/x", json=wide)).status_code == 200
    async with db.acquire() as conn:
        size = await conn.fetchval("SELECT sum(pg_column_size(a.*)) FROM audit a")
    assert size < 4000


def test_a_profile_survives_the_way_through_toml_and_back(tmp_path: Path) -> None:
    body = {
        "name": "acme", "columns": {"Preis": {"target": "price", "currency": "EUR"}, "B": "ignore"},
        "rules": {"properties": {"title": {"minLength": 3}}}, "required": ["title"],
        "weight_unit": "kg", "contract": "freeze", "winner": "last",
    }  # fmt: skip
    profile = catalog.from_input(body)
    assert catalog.from_toml(profile.to_toml()) == profile


def doubling(steps: int, refer: str = "#/$defs/a{}") -> dict[str, Any]:
    """Rules of which each part refers twice to the next."""
    parts: dict[str, Any] = {
        f"a{step}": {"$anchor": f"a{step}", "allOf": [{"$ref": refer.format(step + 1)}] * 2}
        for step in range(steps)
    }
    parts[f"a{steps}"] = {"$anchor": f"a{steps}", "type": "object"}
    return {"$ref": refer.format(0), "$defs": parts}


@pytest.mark.parametrize("refer", ["#/$defs/a{}", "#a{}", "#/%24defs/a{}"])
async def test_rules_that_double_with_each_reference_are_refused(
    caller: Caller, refer: str
) -> None:
    client = await caller()
    answer = await client.put("/api/profiles/x", json={"rules": doubling(60, refer)})
    refused(answer, 422, "INVALID_CONFIG")
    answer = await client.put("/api/profiles/x", json={"rules": doubling(5, refer)})
    assert answer.status_code == 200, answer.text
    back = {"$defs": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}
    answer = await client.put("/api/profiles/x", json={"rules": back})
    assert answer.status_code == 200, answer.text
