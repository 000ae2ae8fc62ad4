"""`penstock lookup`: lists and pictures, searches of a row, and choices, with no server running."""

from __future__ import annotations

from pathlib import Path

from benchmarks.photos import gtin_of, photo
from tests.cli.conftest import Cli

CATALOG = (
    "SKU;EAN;Title;Brand\n"
    "T-1;{gtin};Claw hammer 16 oz;Hultafors\n"
    "T-2;;Round nose pliers 160 mm;Knipex\n"
    "T-3;;Hex bolt M8x20;Würth\n"
)


def test_lists_and_pictures_are_looked_up(unserved_cli: Cli, tmp_path: Path) -> None:
    cli = unserved_cli
    code = gtin_of("ean13", 4711)
    goods = tmp_path / "goods.csv"
    goods.write_text(CATALOG.format(gtin=code))
    cli("extract", goods, "--intent", "merge", "--source", "one", "-o", tmp_path / "x.csv", "-q")
    wanted = tmp_path / "wanted.csv"
    wanted.write_text("Artikelnummer;Bezeichnung\nT-2;\n;Hex-Bolt M8x20\n;Unknown thing 99\n")
    out = tmp_path / "found.csv"
    done = cli.json("lookup", wanted, "-o", out, code=3)
    assert (done["state"], done["counters"]["done"], done["counters"]["notFound"]) == ("done", 2, 1)
    lines = out.read_text("utf-8-sig").splitlines()
    assert lines[0].startswith("Artikelnummer,Bezeichnung,match,confidence")
    assert "Round nose pliers 160 mm" in lines[1]
    assert lines[3].startswith(",Unknown thing 99,notFound")
    told = cli.json("items", "searches", done["jobId"], "3")
    assert [one["variant"] for one in told["searches"]] == ["title"]

    picture = tmp_path / "shelf.jpg"
    picture.write_bytes(photo(7, "ean13", "tilted", code).content)
    found = cli("lookup", picture, "-o", "-")
    assert "T-1" in found.stdout
    assert "1 of 1 found" in found.stderr

    # The same SKU of another supplier is a question, which a person answers.
    cli("extract", goods, "--intent", "merge", "--source", "two", "-o", tmp_path / "x.csv", "-q")
    wanted.write_text("SKU\nT-3\n")
    done = cli.json("lookup", wanted, code=3)
    told = cli.json("items", "searches", done["jobId"], "1")
    key = told["candidates"][1]["key"]
    assert "queued" in cli("items", "choose", done["jobId"], "1", key).stdout
    cli("items", "choose", done["jobId"], "1", "nothing like that", code=1)


def test_a_list_that_names_no_product_is_refused(unserved_cli: Cli, tmp_path: Path) -> None:
    odd = tmp_path / "odd.csv"
    odd.write_text("My Wotsit;Frobz\nred hammer;X-1\nblue saw;X-2\n")
    assert "[MAPPING_NEEDED]" in unserved_cli("lookup", odd, code=2).stderr


def test_a_lookup_without_waiting(cli: Cli, tmp_path: Path) -> None:
    wanted = tmp_path / "wanted.csv"
    wanted.write_text("SKU\nnone-of-them\n")
    made = cli("lookup", wanted, "--no-wait", "--no-sources")
    assert cli.json("jobs", "show", made.stdout.strip())["pipeline"] == "lookup"
    cli("lookup", wanted, "-o", tmp_path / "found.pdf", code=2)


def test_products_are_enriched(cli: Cli, tmp_path: Path) -> None:
    more, less = tmp_path / "more.csv", tmp_path / "less.csv"
    more.write_text("SKU;Title;Brand;MPN;Description\nM-1;Saw;Bahco;N-1;Long and sharp\n")
    less.write_text("SKU;Title;Brand;MPN\nL-1;Hand saw;Bahco;N-1\n")
    out = tmp_path / "x.csv"
    cli("extract", more, "--intent", "merge", "--source", "more", "-o", out, "-q")
    done = cli.json("extract", less, "--intent", "merge", "--source", "less", "-o", out)
    worker = cli.start("worker", PENSTOCK_LOG_LEVEL="error")
    try:
        job = cli("jobs", "enrich", done["jobId"], "--field", "description").stdout.strip()
        cli("jobs", "watch", job)
        [proposed] = cli.json("proposals", "list", job)
        assert proposed["normalized"]["proposal"][0]["after"] == "Long and sharp"
        assert "Long and sharp" in cli("proposals", "list", job).stdout
        assert "accepted 1" in cli("proposals", "accept", job, "1").stdout
        cli("jobs", "watch", job)
        assert "refused 0" in cli("proposals", "refuse", job).stdout
    finally:
        worker.terminate()
        worker.communicate(timeout=60)
    [found] = cli.json("products", "list", "--sku", "L-1")
    assert "Long and sharp" in cli("products", "show", found["id"]).stdout
