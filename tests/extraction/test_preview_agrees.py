"""A preview and the job of the same file decide alike about every row, over generated files."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import UUID

import pytest
from tests.extraction.support import ended, send_file
from tests.fixtures import Bench

from penstock.engine.context import StopSign, stage_context
from penstock.pipelines.extraction.preview import preview
from penstock.store.database import from_json
from penstock.store.jobs import claims

HEADER = ["SKU", "GTIN", "Name", "Price", "Brand", "MPN", "Parent SKU", "Color"]
GTINS = ["4006381333931", "5901234123457", "9780306406157", "0012345678905", ""]
TITLES = ["Hammer", "Saw", "Drill", ""]
PRICES = ["1.50", "15.00", "2.00", "n/a", ""]


@dataclass
class Shape:
    """How a generated file differs from a plain one."""

    intent: str
    winner: str
    key: str
    groups: bool
    source: str = "acme"

    def config(self) -> dict[str, Any]:
        return {
            "intent": self.intent, "winner": self.winner, "key": self.key, "source": self.source,
            "currency": "EUR", "required": ["title"],
        }  # fmt: skip


def shape_of(chance: Random, intent: str | None) -> Shape:
    return Shape(
        intent or chance.choice(["merge", "replace", "update", "create", "ignoreExisting"]),
        chance.choice(["first", "last", "most_complete"]),
        chance.choice(["sku", "sku", "gtin", "sourceId"]),
        chance.random() < 0.5,
    )


def file_of(chance: Random, shape: Shape, rows: int) -> bytes:
    """Few different values, so that rows repeat, contradict and belong to each other."""
    header = HEADER if shape.groups else HEADER[:6]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(header)
    for _ in range(rows):
        number = chance.randint(1, 8)
        sku = chance.choice([f"A-{number}", f"a-{number}", f"A-{number}", ""])
        parent = chance.choice(["", f"A-{chance.randint(1, 4)}", f"P-{chance.randint(1, 2)}"])
        row = [
            sku, chance.choice(GTINS), chance.choice(TITLES), chance.choice(PRICES),
            chance.choice(["Acme", ""]), chance.choice(["M1", "M2", ""]),
            parent, chance.choice(["red", "blue", ""]),
        ]  # fmt: skip
        writer.writerow(row[: len(header)])
    return out.getvalue().encode()


async def previewed(bench: Bench, job_id: UUID) -> dict[int, dict[str, Any]]:
    """Of a job that waits: its file and config as the API would preview them."""
    async with bench.runtime.db.acquire() as conn:
        (row,) = await claims.load_jobs(conn, [job_id])
    ctx = stage_context(bench.runtime, StopSign(), 60, bench.runtime.log)
    shown = await preview(bench.runtime.job(row), ctx)
    return {one["rowNo"]: one for one in shown["rows"]}


async def told_by_job(bench: Bench, job_id: UUID) -> dict[int, dict[str, Any]]:
    """What the job's items say, in the words of a preview."""
    told = {}
    for item in await bench.items(job_id):
        result, error = from_json(item["result"]) or {}, from_json(item["error"]) or {}
        match = (from_json(item["normalized"]) or {}).get("match") or {}
        told[item["row_no"]] = {
            "match": result.get("match"),
            "invalid": item["status"] == "ERROR",
            "code": error.get("code"),
            "message": error.get("message") or "",
            "changes": match.get("changes", []),
            "links": match.get("links", []),
            "held": match.get("held"),
            "product": match.get("productId"),
            "result": {name: one for name, one in result.items() if name not in ("match", "links")},
        }
    return told


def plain(value: Any) -> Any:
    """Without the order of members, which the database does not keep, also in cells of JSON."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        return plain(json.loads(value))
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def agree(row: dict[str, Any], item: dict[str, Any]) -> None:
    assert row["match"] == item["match"]
    assert (row["verdict"] == "invalid") == item["invalid"]
    if row["match"] == "duplicate":
        assert item["code"] == "DUPLICATE_IN_FILE"
        assert f"row {row['duplicateOf']}," in item["message"]
    elif row["match"] == "part":
        assert item["code"] == "PART_OF_PRODUCT"
        assert item["message"].endswith(f"row {row['partOf']}")
    elif row["match"] is not None:
        by_field = {one["field"]: plain(one) for one in row["changes"]}
        assert by_field == {one["field"]: plain(one) for one in item["changes"]}
        assert row["links"] == item["links"]
        assert row["held"] == item["held"]
    assert plain(row["result"]) == plain(item["result"])


def meets_own_writes(items: dict[int, dict[str, Any]], known: set[str]) -> set[int]:
    """Rows whose product another row of the same job has written: the preview writes nothing, so
    it compares them with the product as it was before."""
    times = Counter(one["product"] for one in items.values())
    return {
        row
        for row, one in items.items()
        if one["product"] is not None and (times[one["product"]] > 1 or one["product"] not in known)
    }


async def known_products(bench: Bench) -> set[str]:
    async with bench.runtime.db.acquire() as conn:
        return {str(row["id"]) for row in await conn.fetch("SELECT id FROM products")}


@pytest.mark.parametrize("seed", range(16))
async def test_preview_and_job_agree(bench: Bench, seed: int) -> None:
    chance = Random(seed)
    shape = shape_of(chance, "check" if seed % 2 else None)
    for source in ("acme", "other"):
        known = Shape("merge", "first", "sku", groups=chance.random() < 0.5, source=source)
        before = await send_file(bench, file_of(chance, known, 8), **known.config())
        await bench.work(before)
        await ended(bench, before)
    ids = await known_products(bench)
    job_id = await send_file(bench, file_of(chance, shape, 30), **shape.config())
    rows = await previewed(bench, job_id)
    await bench.work(job_id)
    items = await told_by_job(bench, job_id)
    assert rows.keys() == items.keys()
    apart = set() if shape.intent == "check" else meets_own_writes(items, ids)
    assert len(apart) < len(rows) / 2
    for number in rows.keys() - apart:
        try:
            agree(rows[number], items[number])
        except AssertionError as error:
            told = f"{shape}, row {number}: {rows[number]}\n{items[number]}"
            raise AssertionError(told) from error
