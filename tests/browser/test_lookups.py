"""Look up photos and lists, choose among candidates, and decide about proposals, as people do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks.photos import gtin_of, photo, photo_without_code
from playwright.async_api import expect
from tests.browser.conftest import Visit
from tests.browser.house import House
from tests.browser.test_access import violations, wrong_in_both_themes

CODE = gtin_of("ean13", 90210)
GOODS = (
    "SKU;EAN;Title;Brand;MPN\n"
    f"LK-1;{CODE};Claw hammer 16 oz;Hultafors;HF-820\n"
    "LK-2;;Round nose pliers 160 mm;Knipex;22 01 160\n"
)
MORE = "SKU;Title;Brand;MPN;Description\nMK-1;Pliers;Knipex;22 01 160;Chrome vanadium, 160 mm\n"
SAME = "SKU;Title\nLK-2;Pliers for jewellers\n"


@pytest.fixture(scope="module")
def goods(house: House, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Products of three sources; answers the job of the first."""
    folder = tmp_path_factory.mktemp("goods")
    jobs = []
    for source, content in (("tools", GOODS), ("more", MORE), ("same", SAME)):
        file = folder / f"{source}.csv"
        file.write_text(content, "utf-8")
        config = f'{{"intent": "merge", "source": "{source}"}}'
        jobs.append(house.upload(file, config=config))
        house.wait_for(jobs[-1], "done")
    return jobs[0]


async def test_photos_are_dropped_and_found(
    visit: Visit, house: House, goods: str, tmp_path: Path
) -> None:
    shelf, wall = tmp_path / "shelf.jpg", tmp_path / "IMG_0001.jpg"
    shelf.write_bytes(photo(5, "ean13", "tilted", CODE).content)
    wall.write_bytes(photo_without_code(6).content)
    page = await visit("/new")
    await page.get_by_role("radio", name="Lookup").click()
    await page.get_by_label("Photos or a list").set_input_files([shelf, wall])
    chosen = page.get_by_role("list", name="Chosen files")
    await expect(chosen.get_by_role("listitem")).to_have_count(2)
    await expect(chosen.get_by_text(", stored")).to_have_count(2)
    assert await violations(page) == []
    await page.get_by_role("button", name="Look up 2 files").click()
    await page.wait_for_url(re.compile("/jobs/"))
    job = page.url.rpartition("/")[2]
    house.wait_for(job, "done")
    await expect(page.get_by_text("Claw hammer 16 oz").first).to_be_visible()
    await page.goto(f"/jobs/{job}?row=2")
    drawer = page.get_by_role("dialog")
    await expect(drawer).to_contain_text("No barcode could be read")
    await expect(drawer.get_by_role("region", name="Searches")).to_contain_text("File name")


async def test_a_person_chooses_a_candidate(
    visit: Visit, house: House, goods: str, tmp_path: Path
) -> None:
    wanted = tmp_path / "wanted.csv"
    wanted.write_text("SKU\nLK-2\n")
    page = await visit("/new?source=lookup")
    await page.get_by_label("Photos or a list").set_input_files(wanted)
    await page.get_by_role("button", name="Look up 1 file").click()
    await page.wait_for_url(re.compile("/jobs/"))
    job = page.url.rpartition("/")[2]
    house.wait_for(job, "done")
    note = page.get_by_role("region", name="Ambiguous rows")
    await expect(note).to_contain_text("1 row is ambiguous")
    await page.goto(f"/jobs/{job}?row=1")
    drawer = page.get_by_role("dialog")
    await expect(drawer.get_by_role("region", name="Searches")).to_contain_text("SKU")
    assert await violations(page) == []
    await drawer.get_by_role("button", name="Choose Pliers for jewellers").click()
    candidates = drawer.get_by_role("list", name="Candidates")
    await expect(candidates.get_by_text("Match", exact=True)).to_be_visible()
    house.wait_for(job, "done")
    with house.client() as client:
        [item] = client.get(f"/api/jobs/{job}/items").json()["items"]
    assert (item["status"], item["result"]["source"]) == ("DONE", "same")


async def test_proposals_are_accepted_and_refused(visit: Visit, house: House, goods: str) -> None:
    page = await visit(f"/jobs/{goods}")
    await page.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Look up missing values").click()
    await page.wait_for_url(re.compile(rf"/jobs/(?!{goods})"))
    job = re.search(r"/jobs/([0-9a-f-]+)", page.url)
    assert job is not None
    house.wait_for(job[1], "done")
    await expect(page.get_by_text("Chrome vanadium, 160 mm")).to_be_visible()
    assert await violations(page) == []
    await page.get_by_role("button", name="Accept Round nose pliers 160 mm").click()
    await expect(page.get_by_role("heading", name="No open proposals")).to_be_visible()
    house.wait_for(job[1], "done")
    with house.client() as client:
        [found] = client.get("/api/products", params={"sku": "LK-2", "source": "tools"}).json()[
            "items"
        ]
        product = client.get(f"/api/products/{found['id']}").json()["product"]
        assert product["description"] == "Chrome vanadium, 160 mm"
        undone = client.post(f"/api/jobs/{job[1]}/undo").json()
    assert undone["restored"] == 1


@pytest.mark.parametrize("width", [1440, 390])
async def test_pages_of_lookups_at_both_widths(
    visit: Visit, house: House, goods: str, tmp_path: Path, width: int
) -> None:
    page = await visit("/new?source=lookup", width=width)
    picture = tmp_path / "shelf.jpg"
    picture.write_bytes(photo(5, "ean13", "tilted", CODE).content)
    await page.get_by_label("Photos or a list").set_input_files(picture)
    await expect(page.get_by_text(", stored")).to_be_visible()
    wrong = await wrong_in_both_themes(page, f"lookup-{width}")
    job = house.submit("lookup", rows=[{"SKU": "LK-2"}])
    house.wait_for(job, "done")
    await page.goto(f"/jobs/{job}?row=1")
    await expect(page.get_by_role("region", name="Searches")).to_be_visible()
    wrong += await wrong_in_both_themes(page, f"candidates-{width}")
    with house.client() as client:
        made = client.post(f"/api/jobs/{goods}/enrich", json={"fields": ["description"]}).json()
    house.wait_for(made["jobId"], "done")
    await page.goto(f"/jobs/{made['jobId']}?tab=proposals")
    await expect(page.get_by_text("Chrome vanadium, 160 mm")).to_be_visible()
    wrong += await wrong_in_both_themes(page, f"proposals-{width}")
    assert wrong == []
    with house.client() as client:
        path = f"/api/jobs/{made['jobId']}/items"
        found = client.get(path, params={"code": "ENRICHMENT_PROPOSED"}).json()["items"]
    await page.goto(f"/jobs/{made['jobId']}?row={found[0]['rowNo']}")
    drawer = page.get_by_role("dialog")
    await expect(drawer).to_contain_text("Chrome vanadium, 160 mm")
    await drawer.get_by_role("button", name="Refuse").click()
    await expect(drawer.get_by_text("Refused", exact=True)).to_be_visible()
