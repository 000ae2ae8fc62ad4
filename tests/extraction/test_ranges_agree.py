"""Rows that are stored in ranges come out as rows that go through the stages item by item: the same
items, products, changes, counters and summary."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import orjson
import pytest
from benchmarks.entries.extraction import MAKE
from tests.extraction.support import run_file
from tests.fixtures import Bench

from penstock.app.undo import undo
from penstock.model.errors import BadInput
from penstock.pipelines.extraction.pipeline import Extraction

_DATA = Path(__file__).parents[3] / "shared" / "data"
_SUFFIXES = (".csv", ".tsv", ".txt", ".xlsx", ".json", ".xml")
_SHARED = sorted(
    path
    for folder in ("reading-cases", "supplier-files", "csv-messy", "prices")
    for path in (_DATA / folder).rglob("*")
    if path.suffix in (".csv", ".tsv", ".txt", ".xlsx", ".json", ".xml")
    and path.stat().st_size < 2**20
)
_COUNTERS = ("total", "done", "error", "not_found", "skipped", "pending", "processing")
_PRODUCT = (
    "source", "source_id", "sku", "gtin", "row_no", "published", "title_key", "price_key", "maker",
    "words",
)  # fmt: skip
# What differs from one run to the next.
_APART = ("jobId", "job_id", "productId")


@pytest.fixture(autouse=True)
def _no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Extraction, "cache_key", lambda self, config: None)


def _told(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _told(one) for name, one in value.items() if name not in _APART}
    return [_told(one) for one in value] if isinstance(value, list) else value


def _read(row: Any, *names: str) -> dict[str, Any]:
    return {name: None if row[name] is None else _told(orjson.loads(row[name])) for name in names}


async def _outcome(bench: Bench, job: dict[str, Any]) -> dict[str, Any]:
    """All that a job left, but for ids, times and versions, which an undo does not give back."""
    items = [
        {name: row[name] for name in ("row_no", "status", "stage", "attempts", "generation")}
        | _read(row, "input", "normalized", "result", "error", "noticed", "problems")
        for row in await bench.items(job["id"])
    ]
    async with bench.runtime.db.acquire() as conn:
        products = await conn.fetch("SELECT * FROM products ORDER BY source, source_id")
        changes = await conn.fetch(
            "SELECT c.row_no, c.before IS NULL AS created, p.source_id"
            " FROM product_changes c JOIN products p ON p.id = c.product_id"
            " WHERE c.job_id = $1 ORDER BY p.source_id", job["id"],
        )  # fmt: skip
        names = await conn.fetch(
            "SELECT row_no, key, filled FROM job_keys WHERE job_id = $1 ORDER BY row_no, key",
            job["id"],
        )
        errors = await conn.fetch(
            "SELECT code, count FROM job_errors WHERE job_id = $1 AND count > 0 ORDER BY code",
            job["id"],
        )
    return {
        "items": items,
        "products": [
            {name: row[name] for name in _PRODUCT}
            | _read(row, "data")
            | {"lineage": {k: v[:4] for k, v in orjson.loads(row["lineage"]).items()}}
            for row in products
        ],
        "changes": [dict(row) for row in changes],
        "names": [dict(row) for row in names],
        "errors": [dict(row) for row in errors],
        "counters": {name: job[name] for name in _COUNTERS},
        "summary": _told(job["summary"]),
    }


def _first_difference(one: Any, other: Any, path: str = "") -> Any:
    """Where two documents differ first, and how."""
    if type(one) is type(other) and isinstance(one, dict):
        pairs = [(name, one.get(name), other.get(name)) for name in {**one, **other}]
    elif type(one) is type(other) and isinstance(one, list) and len(one) == len(other):
        pairs = [(n, *both) for n, both in enumerate(zip(one, other, strict=True))]
    else:
        return None if one == other else (path, one, other)
    found = (_first_difference(a, b, f"{path}/{name}") for name, a, b in pairs)
    return next((difference for difference in found if difference is not None), None)


async def _both_ways(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, content: bytes, **config: Any
) -> dict[str, Any]:
    """Run the file in ranges, undo it, run it item by item; the outcomes agree."""
    before = await _outcome_of_catalog(bench)
    job = await run_file(bench, content, **config)
    in_ranges = await _outcome(bench, job)
    await undo(bench.runtime, bench.runtime.db.transaction, job["id"], 30)
    assert await _outcome_of_catalog(bench) == before
    with monkeypatch.context() as patch:
        patch.setattr(Extraction, "ranges", None)
        item_by_item = await _outcome(bench, await run_file(bench, content, **config))
    for name, found in item_by_item.items():
        assert _first_difference(in_ranges[name], found) is None, name
    return in_ranges


async def _outcome_of_catalog(bench: Bench) -> list[Any]:
    async with bench.runtime.db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT source, source_id, version, data, lineage::jsonb FROM products"
            " ORDER BY source, source_id"
        )
    return [tuple(row) for row in rows]


@pytest.mark.parametrize("intent", ["check", "merge", "create", "update", "replace"])
async def test_a_messy_price_list(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, intent: str
) -> None:
    content = MAKE["csv"](tmp_path / "list.csv", 400).read_bytes()
    made = await _both_ways(bench, monkeypatch, content, intent=intent, source="acme")
    assert made["counters"]["total"] == 400
    assert made["counters"]["error"]
    assert made["counters"]["skipped"]


async def test_a_second_file_changes_what_the_first_one_wrote(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Known products: unchanged, changed, held back because of their price, and new ones."""
    lines = MAKE["csv"](tmp_path / "list.csv", 300).read_bytes().split(b"\n")
    await run_file(bench, b"\n".join(lines[:200]), intent="merge", source="acme")
    chance = random.Random(7)
    changed = [lines[0]]
    for line in lines[1:]:
        changed.append(line.replace(b"Stahl", b"Edelstahl") if chance.random() < 0.3 else line)
    content = b"\n".join(changed)
    for intent in ("merge", "create", "update", "replace", "ignoreExisting"):
        made = await _both_ways(bench, monkeypatch, content, intent=intent, source="acme")
        assert made["summary"]["existing"]


_CELLS: dict[str, tuple[str, ...]] = {
    "sku": ("", *(f"A-{n}" for n in range(30)), *(f"b {n}" for n in range(9))),
    "title": ("", "Bolt <b>M8</b>", 'Schraube "5",', "Größe ½", "x" * 400),
    "price": ("", "1,50", "12.90 €", "auf Anfrage", "1.234,00", "abc", "3 / 100"),
    "currency": ("", "EUR", "USD", "Euro"),
    "unit": ("", "Stk", "100 g", "m"),
    "pack": ("", "10 Stück", "500 g", "6x0,5 l"),
    "ean": ("", "4006381333931", "400638133393", "5901234123457"),
    "brand": ("", "Acme", "Größ & Co"),
    "mpn": ("", "M1", "M 2"),
    "stock": ("", "5", "0", "auf Lager", "viele"),
    "availability": ("", "in stock", "out of stock", "3 Tage"),
    "weight": ("", "1,5 kg", "200 g", "schwer"),
    "category": ("", "Tools > Drills", "Tools; Garden > Saws"),
    "images": ("", "https://a.example/1.jpg", "no picture"),
    "color": ("", "red", "blau"),
    "Lagerplatz": ("", "R1", "12"),
}


@pytest.mark.parametrize("seed", range(12))
async def test_files_made_by_chance(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    columns = [name for name in _CELLS if name in ("sku", "title") or chance.random() < 0.6]
    lines = ["\t".join(columns)]
    for _ in range(60):
        cells = [chance.choice(_CELLS[name]) for name in columns]
        lines.append("\t".join(cells[: len(cells) - (chance.random() < 0.05)]))
    config: dict[str, Any] = {
        "intent": chance.choice(["check", "merge"]), "source": "acme",
        "winner": chance.choice(["first", "last", "most_complete"]),
        "key": chance.choice(["sku", "sku", "gtin", "sourceId"]),
        "required": chance.choice([["title"], ["title", "price"], ["sku"]]),
        "currency": "EUR", "missing": chance.choice([None, "report"]),
        "contract": chance.choice([None, "discard_value", "discard_row"]),
    }  # fmt: skip
    content = "\n".join(lines).encode()
    await _both_ways(bench, monkeypatch, content, **config)


_PRICE_FORMS = (
    "{},{}", "{}.{}", "{},{} €", "€ {},{}", "{},{} EUR", "${}.{}", "{}.{}CHF", "¥{}.{}", "{}.{} ¥",
    "{}.{} JPY", "{},{} KWD", "{},{} ct", "{},{} %", "{}.{}.", "{},{} kr", "zł {},{}", "-{},{}",
    "{},{}-", "{},{}O", "ab {},{} €", "{},{} / St", "1.{},{}", "{}{}",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(4))
async def test_prices_of_the_same_form(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """The second price of a form is not read again, but filled into the first one's documents."""
    chance = random.Random(seed)
    forms = chance.sample(_PRICE_FORMS, 6)
    lines = ["sku\ttitle\tprice\tcurrency"]
    for n in range(80):
        amount = chance.choice((0, 0, 5, 12, 250, 999, 1000, 123456))
        price = chance.choice(forms).format(amount, chance.choice(("00", "05", "50", "99")))
        lines.append(f"A-{n}\tBolt\t{price}\t{chance.choice(('', 'EUR', 'JPY'))}")
    columns = {"currency": "EUR"} if seed % 2 else {}
    content = "\n".join(lines).encode()
    made = await _both_ways(bench, monkeypatch, content, intent="merge", source="acme", **columns)
    assert made["counters"]["total"] == 80


@pytest.mark.skipif(not _SHARED, reason="the collection of real files is not beside this folder")
@pytest.mark.parametrize("path", _SHARED, ids=lambda path: path.name)
async def test_real_files(bench: Bench, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    content = path.read_bytes()
    job_id = await run_file_or_none(bench, content)
    if job_id is None:
        pytest.skip("this file cannot be imported without help")
    await _both_ways(bench, monkeypatch, content, intent="merge", source="acme", required=[])


async def run_file_or_none(bench: Bench, content: bytes) -> Any:
    try:
        return await run_file(bench, content, required=[])
    except (AssertionError, BadInput):
        return None
