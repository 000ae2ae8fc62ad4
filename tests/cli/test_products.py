"""The catalog, and jobs put right, undone and exported, as a user does it at a terminal."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Cli

from penstock.model.ids import new_id
from penstock.settings import Settings
from penstock.store.database import Database
from penstock.supervisor.postgres import EmbeddedPostgres

GOODS = "Artikelnr;Bezeichnung;Preis;Notiz\n{0}-1;Hammer;9,90;a\n{0}-2;Zange;4,50;b\n"


@pytest.fixture(autouse=True)
def empty_catalog(served_folder: Settings) -> None:
    """Tests of this module share a database; products are found by their SKU in every source."""
    asyncio.run(_emptied(served_folder))


async def _emptied(settings: Settings) -> None:
    owner = EmbeddedPostgres(settings.data_dir).owner_dsn
    db = await Database(owner, settings.database_schema, size=1).open()
    async with db.acquire() as conn:
        await conn.execute("TRUNCATE products, product_changes")
    await db.close()


@pytest.fixture
def goods(cli: Cli, tmp_path: Path) -> str:
    """A job that has written two products."""
    return imported(cli, tmp_path, GOODS.format("G"))


def imported(cli: Cli, folder: Path, content: str, *more: str, code: int = 0) -> str:
    file = folder / "goods.csv"
    file.write_text(content)
    # Prices change a lot here; what is held back has its own tests.
    config = '{"priceGuard": 0, "source": "' + folder.name + '"}'
    done = cli.json("extract", file, "--intent", "merge", "--config", config, *more, code=code)
    return str(done["jobId"])


def listed(cli: Cli, folder: Path, *more: str) -> list[Any]:
    found = cli.json("products", "list", "--source", folder.name, *more)
    return sorted(found, key=lambda one: one["sku"])


def test_products_are_listed_and_shown(cli: Cli, goods: str, tmp_path: Path) -> None:
    hammer, pliers = listed(cli, tmp_path)
    assert (hammer["sku"], hammer["title"], hammer["jobId"]) == ("G-1", "Hammer", goods)
    assert listed(cli, tmp_path, "--q", "zange") == [pliers]
    assert listed(cli, tmp_path, "--job", goods, "--sku", "G-1") == [hammer]
    text = cli("products", "list", "--source", tmp_path.name, "--limit", "1")
    assert "There are more" in text.stderr
    shown = cli.json("products", "show", hammer["id"])
    assert shown["lineage"]["title"] == {
        "column": "Bezeichnung", "raw": "Hammer", "rule": shown["lineage"]["title"]["rule"],
        "confidence": shown["lineage"]["title"]["confidence"], "jobId": goods, "rowNo": 1,
    }  # fmt: skip
    assert "Bezeichnung" in cli("products", "show", hammer["id"]).stdout
    (made,) = cli.json("products", "history", hammer["id"])
    assert (made["kind"], made["jobId"]) == ("created", goods)
    assert "title: nothing → Hammer" in cli("products", "history", hammer["id"]).stdout


def test_what_is_not_there(cli: Cli, tmp_path: Path) -> None:
    for command in ("show", "history"):
        assert "no such product" in cli("products", command, str(new_id()), code=4).stderr
        assert "is no product id" in cli("products", command, "abc", code=2).stderr
    assert "No such products" in cli("products", "list", "--source", "nobody").stderr
    assert "no org" in cli("products", "list", "--org", "nobody", code=4).stderr
    assert "gtin" in cli("products", "list", "--gtin", "12a", code=2).stderr
    unknown = str(new_id())
    out = str(tmp_path / "out.csv")
    unknown_jobs: list[tuple[str, ...]] = [
        ("jobs", "undo", unknown, "--yes"),
        ("jobs", "remap", unknown, "--profile", "x"),
        ("jobs", "export", unknown, "-o", out),
        ("items", "fix", unknown, "1", "a=b"),
    ]
    for arguments in unknown_jobs:
        assert "There is no such job" in cli(*arguments, code=4).stderr
    no_ids: list[tuple[str, ...]] = [
        ("jobs", "undo", "abc"),
        ("jobs", "remap", "abc"),
        ("jobs", "export", "abc", "-o", out),
        ("jobs", "clone", "abc"),
        ("items", "fix", "abc", "1", "a=b"),
    ]
    for wrong in no_ids:
        assert "'abc' is no job id" in cli(*wrong, code=2).stderr
    assert not Path(out).exists()


def test_the_catalog_is_exported(cli: Cli, goods: str, tmp_path: Path) -> None:
    out = tmp_path / "catalog.csv"
    told = cli.json("products", "export", "-o", out, "--source", tmp_path.name)
    assert told == {"output": str(out), "bytes": out.stat().st_size}
    lines = list(csv.DictReader(out.open(newline="", encoding="utf-8")))
    assert [line["sku"] for line in lines] == ["G-1", "G-2"]
    text = cli("products", "export", "-o", "-", "--format", "ndjson", "--q", "Hammer").stdout
    assert all(json.loads(line)["title"] == "Hammer" for line in text.splitlines())
    text = cli("products", "export", "-o", "-", "--format", "shopify", "--q", "Hammer").stdout
    assert text.startswith("Handle,Title,")
    assert "must end in" in cli("products", "export", "-o", tmp_path / "x.pdf", code=2).stderr
    assert "is a folder" in cli("products", "export", "-o", tmp_path, code=2).stderr


def test_an_import_is_undone(cli: Cli, goods: str, tmp_path: Path) -> None:
    before = listed(cli, tmp_path)
    later = imported(cli, tmp_path, "Artikelnr;Preis\nG-1;1\nG-3;2\n")
    told = cli.json("jobs", "undo", goods, "--dry-run")
    assert (told["restored"], told["deleted"], told["refusedCount"]) == (0, 1, 1)
    assert len(listed(cli, tmp_path)) == 3
    # Nobody is there to say yes.
    asked = cli("jobs", "undo", later, code=1)
    assert "Restore 1 products and remove 1?" in asked.stderr
    refused = cli("jobs", "undo", goods, "--yes", code=3)
    assert refused.stdout == "0 are restored, 1 are removed, 1 are refused\n"
    assert f"Refused: {tmp_path.name}:G-1 (row 1). It was changed since." in refused.stderr
    assert cli("jobs", "undo", later, "--yes").stdout.startswith("1 are restored, 1 are removed")
    assert listed(cli, tmp_path) == before[:1]
    cli("jobs", "undo", goods, "--yes")
    assert listed(cli, tmp_path) == []


def test_an_undo_that_was_killed_is_finished_by_the_next(
    cli: Cli, unserved_cli: Cli, tmp_path: Path
) -> None:
    rows = "".join(f"K-{n};Thing {n};{n},50\n" for n in range(1, 1301))
    job = imported(cli, tmp_path, "Artikelnr;Bezeichnung;Preis\n" + rows)
    for failpoint in ("undo_before_commit:kill:2", "undo_after_commit:kill"):
        killed = unserved_cli.start("jobs", "undo", job, "--yes", PENSTOCK_FAILPOINT=failpoint)
        killed.communicate(timeout=60)
        assert killed.returncode == -9
    rest = cli.json("jobs", "undo", job, "--yes")
    # The first took back 500, the second as many before it died.
    assert (rest["deleted"], rest["refusedCount"]) == (300, 0)
    assert listed(cli, tmp_path) == []


def test_a_job_is_exported(cli: Cli, tmp_path: Path) -> None:
    job = imported(cli, tmp_path, GOODS.format("E") + "E-3;Säge;1,00;c;too;many\n", code=3)
    out = tmp_path / "all.xlsx"
    assert cli.json("jobs", "export", job, "-o", out)["bytes"] == out.stat().st_size
    assert out.read_bytes().startswith(b"PK")
    (row,) = json.loads(
        cli("jobs", "export", job, "-o", "-", "--format", "json", "--which", "original-with-errors")
        .stdout
    )  # fmt: skip
    assert (row["Artikelnr"], row["Column 6"], "Reason" in row) == ("E-3", "many", True)
    done = cli("jobs", "export", job, "-o", "-", "--status", "DONE").stdout
    assert len(done.splitlines()) == 3
    rare = ("--code", "ROW_TOO_LONG", "--format", "ndjson", "-o", "-")
    assert len(cli("jobs", "export", job, *rare).stdout.splitlines()) == 1
    price = next(one for one in cli.json("jobs", "columns", job) if one["target"] == "price.amount")
    assert price["filled"] + price["empty"] > 0
    assert "CHANGED" in cli("jobs", "columns", job).stdout
    as_rows = cli("jobs", "export", job, "-o", "-", "--format", "csv", "--variants", "rows").stdout
    assert as_rows.partition("\n")[0].strip().endswith(",variantOptions")
    assert "need a file" in cli("jobs", "export", job, "-o", "-", "--json", code=2).stderr


def test_products_that_the_file_lacks_are_exported(cli: Cli, goods: str, tmp_path: Path) -> None:
    shorter = GOODS.format("G").rpartition("G-2")[0]
    asked = '{"priceGuard": 0, "missing": "report", "source": "' + tmp_path.name + '"}'
    job = imported(cli, tmp_path, shorter, "--config", asked)
    text = cli("jobs", "export", job, "-o", "-", "--format", "csv", "--which", "missing").stdout
    (line,) = csv.DictReader(text.splitlines())
    assert (line["SKU"], line["Title"], line["Unpublished"]) == ("G-2", "Zange", "no")


def test_a_row_is_put_right(cli: Cli, tmp_path: Path) -> None:
    content = GOODS.format("F") + "F-3;;abc;c\n"
    config = ("--config", '{"required": ["title", "price"], "source": "' + tmp_path.name + '"}')
    file = tmp_path / "bad.csv"
    file.write_text(content)
    job = cli.json("extract", file, "--intent", "merge", *config, code=3)["jobId"]
    [bad] = cli.json("items", "list", job, "--status", "ERROR")
    assert bad["rowNo"] == 3
    told = cli("items", "list", job, "--code", bad["error"]["code"], "--q", "F-3").stdout
    assert "Preis: 'abc' is not a price" in told
    assert "F-3" not in cli("items", "list", job, "--limit", "2").stdout
    one = cli("items", "show", job, "1").stdout
    assert "price.amount" in one
    assert cli.json("items", "show", job, "3")["input"]["Preis"] == "abc"
    assert "no row 9" in cli("items", "show", job, "9", code=4).stderr
    unknown = cli("items", "fix", job, "3", "Farbe=rot", code=2).stderr
    assert "The row has no column 'Farbe'" in unknown
    assert "no row 9" in cli("items", "fix", job, "9", "Preis=1", code=4).stderr
    assert "write it as COLUMN=VALUE" in cli("items", "fix", job, "3", "Preis", code=2).stderr
    said = cli("items", "fix", job, "3", "Bezeichnung=Säge", "Preis=7,00")
    assert said.stdout == "reopened 1; the job is queued\n"
    again = cli("items", "fix", job, "3", "Preis=8,00", code=1).stderr
    assert "still at work" in again
    with working(cli):
        assert cli("jobs", "watch", job).stdout.startswith("done")
        waited = cli.json("items", "fix", job, "3", "Preis=8,00", "--wait")
    assert (waited["job"]["state"], waited["job"]["counters"]["error"]) == ("done", 0)
    (saw,) = listed(cli, tmp_path, "--sku", "F-3")
    assert saw["price"]["amount"] == "8.00"


def test_a_job_is_mapped_anew(cli: Cli, goods: str, tmp_path: Path) -> None:
    assert "Nothing to change" in cli("jobs", "remap", goods, code=2).stderr
    assert (
        "does not have: Farbe"
        in cli("jobs", "remap", goods, "--mapping", "Farbe=title", code=2).stderr
    )
    with working(cli):
        made = cli.json("jobs", "remap", goods, "--mapping", "Notiz=title", "--wait")
    assert (made["reprocessed"], made["job"]["state"]) == (2, "done")
    assert [one["title"] for one in listed(cli, tmp_path)] == ["a", "b"]


def test_many_rows_are_fixed_and_the_fix_is_undone(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "prices.csv"
    file.write_text(
        "SKU;Title;Price\n"
        + "".join(f"PF-{n};Thing {n};1O,{n}0\n" for n in range(3))
        + "".join(f"PG-{n};Thing {n};12,{n}0\n" for n in range(9))
    )
    with working(cli):
        made = cli.json("extract", str(file), "--intent", "merge", code=3)
        job = made["jobId"]
        shown = cli(
            "jobs", "fix", job, "--column", "Price", "--find", "O", "--value", "0", "--dry-run"
        )
        assert shown.stdout.startswith("3 rows would change\nrow 1  Price: '1O,00' → '10,00'\n")
        assert "Give --value" in cli("jobs", "fix", job, "--column", "Price", code=2).stderr
        one = ("--column", "Price", "--value", "5", "--where", "SKU=PF-1", "--dry-run")
        assert cli("jobs", "fix", job, *one).stdout.startswith("1 row would change\n")
        options = ("--column", "Price", "--find", "O", "--value", "0")
        fixed = cli.json("jobs", "fix", job, *options, "--problem", "PRICE_UNREADABLE", "--wait")
        assert (fixed["rows"], fixed["job"]["counters"]["done"]) == (3, 12)
        undone = cli("jobs", "undo-fix", job, "--wait", code=3)
        assert undone.stdout == "restored 3 rows; the job is done\n"


@contextmanager
def working(cli: Cli) -> Iterator[None]:
    """With a worker, for as long as it takes."""
    worker = cli.start("worker")
    try:
        yield
    finally:
        worker.terminate()
        worker.communicate(timeout=60)


def test_held_rows_are_accepted_and_links_shown(cli: Cli) -> None:
    head = "SKU;Title;EAN;Price\n"
    for name, rows, source in (
        ("a.csv", "HL-1;Lamp;4006381333931;10.00 EUR\n", "acme-held"),
        ("b.csv", "HX-1;Lamp;4006381333931;10.00 EUR\n", "bolt-held"),
    ):
        (cli.cwd / name).write_text(head + rows)
        cli("extract", name, "--intent", "merge", "--source", source)
    (cli.cwd / "dear.csv").write_text(f"{head}HL-1;Lamp;4006381333931;1000.00 EUR\n")
    told = cli.json("extract", "dear.csv", "--intent", "merge", "--source", "acme-held", code=3)
    assert (told["held"], told["linked"]) == (1, 1)
    ended = cli("jobs", "watch", told["jobId"])
    assert f"1 row is held back: `penstock jobs held {told['jobId']}`" in ended.stderr
    again = cli("extract", "dear.csv", "--intent", "merge", "--source", "acme-held", code=3).stderr
    assert "1 row was held back" in again
    said = cli("items", "list", told["jobId"], "--code", "PRICE_CHANGE_HELD").stdout
    assert "from 10.00 to 1000.00 EUR (+9,900 %)" in said
    [held] = cli.json("jobs", "held", told["jobId"])
    assert (held["sku"], held["before"], held["percent"]) == ("HL-1", "10.00", 9900.0)
    assert "+9,900 %" in cli("jobs", "held", told["jobId"]).stdout
    assert "bolt-held" in cli("items", "show", told["jobId"], "1").stdout
    assert "accepted 1" in cli("jobs", "accept", told["jobId"]).stdout
    [product] = cli.json("products", "list", "--sku", "HL-1")
    assert "bolt-held:HX-1 (same GTIN)" in cli("products", "show", product["id"]).stdout
    [link] = cli.json("jobs", "links", told["jobId"])
    assert (link["product"]["sku"], link["other"]["sku"], link["by"]) == ("HL-1", "HX-1", "gtin")
    assert "bolt-held:HX-1" in cli("jobs", "links", told["jobId"], "--limit", "1").stdout
    assert cli("jobs", "links", told["jobId"], "--accept").stdout == "accepted 1\n"
    assert cli.json("jobs", "links", told["jobId"]) == []
    assert "accepted" in cli("products", "links", "--source", "bolt-held").stdout
    assert "bolt-held:HX-1 10.00 EUR" in cli("products", "show", product["id"]).stdout
    pair = (product["id"], link["other"]["productId"])
    assert cli("products", "link", *pair, "--decision", "undo").stdout == "The link is undone.\n"
    assert cli.json("products", "links", "--source", "bolt-held") == []
    assert "GTIN" in cli("orgs", "set", "default", "--catalog-key", "gtin").stdout.upper()
    assert "none" in cli("orgs", "set", "default", "--catalog-key", "none").stdout


def test_a_product_is_edited_listed_and_set_back(cli: Cli) -> None:
    (cli.cwd / "edit.csv").write_text("SKU;Title;Brand;Price\nED-1;Hamer;Zed;9.90 EUR\n")
    cli("extract", "edit.csv", "--intent", "merge", "--source", "edited")
    [product] = cli.json("products", "list", "--sku", "ED-1")
    said = cli(
        "products", "edit", product["id"], "--set", "title=Hammer", "--set", "price.amount=8.50",
        "--clear", "brand",
    )  # fmt: skip
    assert "title: Hamer → Hammer" in said.stdout
    assert (
        "cannot be edited" in cli("products", "edit", product["id"], "--set", "x=1", code=2).stderr
    )
    assert "FIELD=VALUE" in cli("products", "edit", product["id"], "--set", "title", code=2).stderr
    cli("extract", "edit.csv", "--intent", "merge", "--source", "edited")
    [kept] = cli.json("products", "list", "--edited", "--source", "edited", "--sort", "title")
    assert (kept["title"], kept["brand"]) == ("Hammer", None)
    assert cli.json("products", "list", "--not-edited", "--source", "edited") == []
    assert "8.50 EUR" in cli("products", "prices", product["id"]).stdout
    [edit, _] = cli.json("products", "history", product["id"])
    assert "as edit" in cli("products", "history", product["id"]).stdout
    cli("products", "undo-edit", product["id"], edit["editId"])
    [back] = cli.json("products", "list", "--brand", "zed", "--source", "edited")
    assert back["title"] == "Hamer"
