"""Lookups: photos per second beside plain zxing, precision, memory, and rows per second."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from benchmarks.entries.ingest import keep_file
from benchmarks.entry import Entry, Line, Scale, at_least, at_most, reported
from benchmarks.lab import Bench, Lab
from benchmarks.measure import timed
from benchmarks.photos import Photo, folder
from benchmarks.resident import watched
from penstock.model.text.json_text import from_json

_PROCESSES = 2
# Photos whose product the catalog does not have: every fifth.
_UNKNOWN = 5
_PRODUCTS = """
INSERT INTO products (id, org_id, source, source_id, sku, gtin, data, job_id, row_no, words)
SELECT gen_random_uuid(), $1, 'bench', n.gtin, n.gtin, lpad(n.gtin, 14, '0'),
       jsonb_build_object('title', 'Thing ' || n.gtin), gen_random_uuid(), 1,
       title_words('Thing ' || n.gtin)
FROM unnest($2::text[]) AS n (gtin)
"""
_TITLES = """
INSERT INTO products (id, org_id, source, source_id, sku, data, job_id, row_no, words)
SELECT gen_random_uuid(), $1, 'titles', 'T-' || n, 'T-' || n, jsonb_build_object('title', t.title),
       gen_random_uuid(), 1, title_words(t.title)
FROM generate_series(1, $2::integer) AS n
CROSS JOIN (SELECT '{hex,bolt,steel,round,long,short,zinc,brass,oak,pine,blue,black,large}'::text[] AS w) AS w
CROSS JOIN LATERAL (SELECT w[1 + n % 7] || ' ' || w[1 + n % 11] || ' ' || w[1 + n % 13] || ' no ' || n
                           || ' ' || n % 97 || ' mm' AS title) AS t
"""  # noqa: E501


def plain_zxing(photos: Sequence[Photo]) -> tuple[float, int]:
    """What a script would do: open each photo, and read its barcodes once. Answers photos per
    second of processor time, and how many codes it read."""
    import time

    import zxingcpp
    from PIL import Image

    read = 0
    began = time.process_time()
    for one in photos:
        with Image.open(io.BytesIO(one.content)) as image:
            found = {code.text.lstrip("0") for code in zxingcpp.read_barcodes(image)}
        read += one.text is not None and one.text.lstrip("0") in found
    return len(photos) / (time.process_time() - began), read


async def look_up_photos(lab: Lab, photos: Sequence[Photo]) -> dict[str, float]:
    archive = lab.folder / "photos.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for one in photos:
            made.writestr(one.name, one.content)
    known = {one.text for n, one in enumerate(photos) if one.text and n % _UNKNOWN}
    async with lab.bench() as bench:
        await bench.execute(_PRODUCTS, bench.who.org_id, sorted(filter(None, known)))
        async with bench.workers(_PROCESSES) as workers:
            pids = [worker.pid for worker in workers]
            async with watched(pids) as peak, timed() as clock:
                job_id = await bench.submit("lookup", {}, file_id=await keep_file(bench, archive))
                await bench.until_done(job_id)
        right, wrong = await _judged(bench, job_id, {one.name: one for one in photos})
    return {
        "photos/s": len(photos) / clock.seconds,
        "precision": right / max(right + wrong, 1),
        "recall": right / len(known),
        "MB": peak.one,
    }


async def _judged(bench: Bench, job_id: UUID, photos: dict[str, Photo]) -> tuple[int, int]:
    async with bench.db.acquire() as conn:
        rows = await conn.fetch(
            "SELECT result FROM job_items WHERE job_id = $1 AND status = 'DONE'", job_id
        )
    found: list[dict[str, Any]] = [from_json(row["result"]) for row in rows]
    right = sum(one["sourceId"] == photos[one["file"]].text for one in found)
    return right, len(found) - right


async def look_up_rows(lab: Lab, products: int, rows: int, kind: str) -> float:
    """Rows per second of a list, by SKU or by title, in a catalog of so many products."""
    async with lab.bench() as bench:
        await bench.execute(_TITLES, bench.who.org_id, products)
        await bench.execute("VACUUM ANALYZE products")
        async with bench.db.acquire() as conn:
            found = await conn.fetch(
                "SELECT sku, data->>'title' AS title FROM products ORDER BY md5(sku) LIMIT $1", rows
            )
        path = Path(lab.folder, f"list-{kind}.csv")
        lines = [f"{one[kind]};{number}" for number, one in enumerate(found)]
        path.write_text("\n".join([f"{kind};Bemerkung", *lines]) + "\n", "utf-8")
        async with bench.workers(_PROCESSES), timed() as clock:
            job_id = await bench.submit("lookup", {}, file_id=await keep_file(bench, path))
            await bench.until_done(job_id)
            if await bench.done(job_id) < rows:
                raise RuntimeError("a row of the list was not found")
    return rows / clock.seconds


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    photos = list(folder(scale.of(12, 1)))
    with_code = sum(one.text is not None for one in photos)
    found: list[dict[str, float]] = []
    rows: dict[str, list[float]] = {"sku": [], "title": []}
    for _ in range(scale.of(scale.repetitions, 1)):
        found.append(await look_up_photos(lab, photos))
        for kind, speeds in rows.items():
            count = scale.of(100_000, 2000), scale.of(10_000, 200)
            speeds.append(await look_up_rows(lab, *count, kind))
    rate, read = plain_zxing(photos)

    def each(name: str) -> list[float]:
        return [one[name] for one in found]

    return [
        at_least(f"{len(photos)} photos: precision of matches", "", each("precision"), 1.0),
        at_least("… share of the products that were found", "", each("recall"), 0.95),
        reported("… share of the codes that plain zxing reads", "", [read / with_code]),
        reported("… photos, 2 workers", "/s", each("photos/s")),
        reported("… photos, plain zxing, by processor time", "/s", [rate]),
        at_most("… memory of the largest process", "MB", each("MB"), 200),
        reported("rows by SKU, 2 workers", "rows/s", rows["sku"]),
        reported("rows by title, 2 workers", "rows/s", rows["title"]),
    ]


ENTRY = Entry(
    "lookup", run, "Lookups", "Made photos with EAN-13, EAN-8, UPC and QR codes, rotated, tilted,"
    " blurred, small and noisy, and photos without a code; the catalog lacks the products of every"
    " fifth. Plain zxing is a script that opens each photo with Pillow and reads it once. Lists of"
    " SKUs and of titles in a catalog of 100,000 products.",
)  # fmt: skip
