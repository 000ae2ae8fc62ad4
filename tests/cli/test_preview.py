"""`penstock preview` and what `extract` can be asked for."""

from __future__ import annotations

import json

from tests.cli.conftest import Cli

GOODS = "Artikelnr;Bezeichnung;Preis\nA-1;Hammer;9,90\nA-2;;abc\n"


def test_a_preview_tells_columns_and_problems(cli: Cli) -> None:
    (cli.cwd / "goods.csv").write_text(GOODS)
    before = cli.json("jobs", "list")
    said = cli("preview", "goods.csv")
    assert "identifiers.sku" in said.stdout
    assert "delimiter ';'" in said.stdout
    assert "[REQUIRED_MISSING]" in said.stderr
    shown = cli.json("preview", "goods.csv", "--mapping", "Preis=ignore")
    assert [row["verdict"] for row in shown["rows"]] == ["valid", "invalid"]
    assert cli.json("jobs", "list") == before


def test_problems_go_into_a_file_of_their_own(cli: Cli) -> None:
    (cli.cwd / "goods.csv").write_text(GOODS)
    cli("extract", "goods.csv", "--errors", "problems.json", "--intent", "check", code=3)
    problems = json.loads((cli.cwd / "problems.json").read_text())
    assert {one["Row"] for one in problems} == {2}
    assert {one["Column"] for one in problems} == {"Bezeichnung", "Preis"}
    said = cli("extract", "goods.csv", "--errors", "problems.pdf", code=2).stderr
    assert "must end in" in said
