"""Lookups of pictures: by barcode, by look and by file name, and pictures that are refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

import pytest
from benchmarks.photos import encoded, folder, gtin_of, photo, scene
from PIL import Image, ImageOps
from tests.fixtures import Bench
from tests.lookup.support import Catalog

from penstock.catalog.lookup.picture_names import names_of_picture, upc_a_of
from penstock.catalog.values.gtin import is_valid
from penstock.formats.picture_hash import flat, hashes_of
from penstock.formats.picture_scan import scan
from penstock.model.effects import StorePicture
from penstock.model.errors import BadInput
from penstock.model.ids import new_id
from penstock.store.catalog import pictures

pytestmark = pytest.mark.slow


@pytest.fixture
async def catalog(bench: Bench) -> Catalog:
    return Catalog(bench)


async def uploaded(bench: Bench, name: str, content: bytes) -> UUID:
    async def chunks() -> AsyncIterator[bytes]:
        yield content

    blob = await bench.runtime.blobs.put(chunks(), len(content))
    file_id = new_id()
    async with bench.runtime.db.transaction() as conn:
        await conn.execute(
            "INSERT INTO files (id, org_id, user_id, name, media_type, sha256, size, blob_key)"
            " VALUES ($1, $2, $3, $4, 'image/jpeg', $5, $6, $7)",
            file_id, bench.who.org_id, bench.who.user_id, name, blob.sha256, blob.size, blob.key,
        )  # fmt: skip
    return file_id


async def look_up(catalog: Catalog, *files: tuple[str, bytes]) -> UUID:
    ids = [await uploaded(catalog.bench, name, content) for name, content in files]
    job_id = await catalog.bench.submit("lookup", file_id=ids[0], more_files=tuple(ids[1:]))
    await catalog.bench.work()
    return job_id


def zipped(files: Sequence[tuple[str, bytes]]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files:
            archive.writestr(name, content)
    return out.getvalue()


def product(source_id: str, gtin: str | None = None, image: str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"sourceId": source_id, "title": f"Thing {source_id}"}
    made["identifiers"] = {"sku": source_id, **({"gtin": gtin} if gtin else {})}
    if image:
        made["images"] = [{"url": image, "type": "primary"}]
    return made


async def test_a_folder_of_photos_has_no_wrong_match(catalog: Catalog) -> None:
    """Every kind of code, rotated, blurred, small and noisy; some without a code, and some whose
    product the catalog does not have."""
    photos = list(folder())
    known = {one.text for n, one in enumerate(photos) if one.text and n % 5}
    await catalog.add([product(f"P-{text}", text) for text in known if text])
    job_id = await look_up(catalog, ("photos.zip", zipped([(p.name, p.content) for p in photos])))
    results = {one["file"]: one for one in await catalog.results(job_id)}
    assert len(results) == len(photos)
    right = wrong = 0
    for one in photos:
        result = results[one.name]
        if result["status"] == "DONE":
            if one.text is not None and result["sourceId"] == f"P-{one.text}":
                right += 1
            else:
                wrong += 1
        else:
            assert result["status"] == "NOT_FOUND", result
            assert result["error"]["message"]
    assert wrong == 0
    assert right >= 0.95 * len(known), (right, len(known))
    missing = next(one for n, one in enumerate(photos) if one.text and n % 5 == 0)
    assert "no product with the code" in results[missing.name]["error"]["message"]
    empty = next(one for one in photos if one.text is None)
    assert "No barcode could be read" in results[empty.name]["error"]["message"]


async def store_picture(catalog: Catalog, url: str, image: Image.Image) -> None:
    hashes = hashes_of(flat(image))
    assert hashes is not None
    async with catalog.bench.runtime.db.transaction() as conn:
        stored = StorePicture(url, "b", "0" * 64, 1, hashes=(hashes.phash, hashes.dhash))
        await pictures.store(conn, catalog.bench.who.org_id, new_id(), [stored])


async def test_a_picture_of_the_catalog_is_found_by_its_look(catalog: Catalog) -> None:
    """Smaller, brighter and packed harder; other pictures are not taken for it."""
    for seed in range(100, 140):
        url = f"https://shop.example/{seed}.jpg"
        await catalog.add([product(f"L-{seed}", image=url)])
        await store_picture(catalog, url, scene(seed))
    shrunk = scene(105).resize((450, 350))
    bright = ImageOps.autocontrast(scene(107))
    files = [
        ("a.jpg", encoded(shrunk, quality=40)),
        ("b.jpg", encoded(bright)),
        ("c.jpg", encoded(scene(999))),
        ("d.png", _png(Image.new("RGB", (300, 300), "white"))),
    ]
    results = await catalog.results(await look_up(catalog, *files))
    assert [one.get("sourceId") for one in results] == ["L-105", "L-107", None, None]
    assert [one["match"] for one in results] == ["found", "found", "notFound", "notFound"]
    assert {one.get("matchedBy") for one in results[:2]} == {"image"}


async def test_a_file_is_found_by_its_name(catalog: Catalog) -> None:
    await catalog.add([product("B-820"), product("B-830", "4006381333931")])
    names = ("B-820.jpg", "B-820_2.jpg", "4006381333931.jpg", "IMG_0820.jpg", "Thing B-830.jpg")
    files = [(name, encoded(scene(n))) for n, name in enumerate(names)]
    results = await catalog.results(await look_up(catalog, *files))
    assert [one.get("sourceId") for one in results[:4]] == ["B-820", "B-820", "B-830", None]
    # A title in the name of a file is a proposal, never a match.
    assert (results[4]["status"], results[4]["match"]) == ("SKIPPED", "ambiguous")
    searches = await catalog.searches(await look_up(catalog, files[0]))
    assert [one["variant"] for one in searches] == ["image", "fileName"]


async def test_bombs_and_files_that_are_no_pictures_are_refused_by_name(catalog: Catalog) -> None:
    bomb = _png(Image.new("1", (13_000, 13_000)))
    assert len(bomb) < 50_000
    code = photo(1, "ean13", "plain", gtin_of("ean13", 77))
    await catalog.add([product("P-1", code.text)])
    broken = code.content[:2000]
    job_id = await look_up(
        catalog, ("bomb.png", bomb), ("broken.jpg", broken), ("good.jpg", code.content)
    )
    first, second, third = await catalog.results(job_id)
    assert (first["status"], first["error"]["code"]) == ("ERROR", "PICTURE_TOO_LARGE")
    assert "bomb.png has more than 40,000,000 pixels" in first["error"]["message"]
    assert (second["error"]["code"], third["sourceId"]) == ("PICTURE_UNREADABLE", "P-1")
    assert "broken.jpg is not a picture" in second["error"]["message"]


async def test_several_files_must_all_be_pictures(catalog: Catalog) -> None:
    listed = ("list.csv", b"sku,title\n1,Hammer\n")
    job_id = await look_up(catalog, ("a.jpg", encoded(scene(1))), listed)
    job = await catalog.bench.job(job_id)
    assert job["state"] in ("failed", "queued", "running")
    assert "list.csv is no picture" in job["last_error"]


def _png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def test_what_codes_and_names_say() -> None:
    gtin = "04006381333931"
    for kind, text in (
        ("EAN13", "4006381333931"),
        ("QRCode", "4006381333931"),
        ("QRCode", "https://id.gs1.org/01/04006381333931/10/ABC"),
        ("QRCode", "(01)04006381333931(17)261231"),
    ):
        assert list(names_of_picture([(kind, text)], "a.jpg").gtins) == [gtin], text
    assert list(names_of_picture([("QRCode", "https://x.example/p/B-820?a=1")], "").skus) == [
        "B-820"
    ]
    assert names_of_picture([("EAN13", "4006381333930")], "a.jpg").gtins == []
    assert upc_a_of("04252614") == "042100005264"
    assert is_valid(upc_a_of("04252614") or "")
    assert names_of_picture([], "photos/B-820 (2).jpg").file_skus == ["B-820 (2)", "B-820"]


def test_hashes_of_other_scenes_differ() -> None:
    found = [hashes_of(flat(scene(seed))) for seed in range(60)]
    assert all(found)
    near = 0
    for place, one in enumerate(found):
        for other in found[:place]:
            assert one is not None
            assert other is not None
            bits = sum(
                (int(a, 16) ^ int(b, 16)).bit_count() for a, b in zip(one, other, strict=True)
            )
            near += bits <= 12
    assert near == 0


def test_a_blurred_code_is_read_right_or_not_at_all() -> None:
    """Read once, this one has two wrong digits and a right check digit."""
    text = gtin_of("upca", 70265)
    codes = scan(photo(70265, "upca", "small", text).content).codes
    assert {one for _, one in codes} <= {text, f"0{text}"}


def test_a_picture_with_many_bytes_is_not_decoded() -> None:
    with pytest.raises(BadInput, match="more than"):
        scan(b"\xff\xd8\xff" + bytes(21 * 1024 * 1024))
