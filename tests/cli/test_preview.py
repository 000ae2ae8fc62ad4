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
    assert "proposed from the file" in said.stdout
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


def test_a_refused_file_ends_with_2_in_every_command(cli: Cli) -> None:
    (cli.cwd / "empty.csv").write_text("")
    (cli.cwd / "photo.csv").write_bytes(b"\xff\xd8\xff\xe0" + bytes(200))
    for name, code in (("empty.csv", "EMPTY_FILE"), ("photo.csv", "UNSUPPORTED_TYPE")):
        for command in ("read", "preview", "extract"):
            said = cli(command, name, code=2).stderr
            assert f". [{code}]" in said, (command, said)
    assert ". [EMPTY_FILE]" in cli("lookup", "empty.csv", code=2).stderr
    assert ". [EMPTY_FILE]" in cli("jobs", "start", "extraction", "empty.csv", code=2).stderr
    (cli.cwd / "goods.csv").write_text(GOODS)
    cli("preview", "goods.csv", "--mapping", "Preis=nonsense", code=2)


def test_a_file_that_is_not_there_ends_with_2_in_every_command(cli: Cli) -> None:
    for words in (
        ("read", "gone.csv"), ("preview", "gone.csv"), ("extract", "gone.csv"),
        ("lookup", "gone.csv"), ("jobs", "submit", "gone.csv"), ("jobs", "submit", "."),
        ("connections", "add", "shopify", "shop", "--credential", "token=@gone.csv"),
        ("profiles", "import", "gone.csv"),
    ):  # fmt: skip
        said = cli(*words, code=2).stderr
        assert "Errno" not in said, words


def test_a_column_that_is_nearly_full_is_not_called_full(cli: Cli) -> None:
    rows = "".join(f"A-{n},{'' if n == 7 else 'Pen'}\n" for n in range(300))
    (cli.cwd / "goods.csv").write_text(f"SKU,Title\n{rows}")
    lines = cli("preview", "goods.csv").stdout.splitlines()
    filled = {line.split()[0]: line.split()[4] for line in lines if line.startswith(("SKU", "Tit"))}
    assert filled == {"SKU": "100%", "Title": "99%"}


def test_a_profile_that_was_found_is_named(cli: Cli) -> None:
    (cli.cwd / "goods.csv").write_text(GOODS)
    profile = (
        'name = "acme"\n[columns]\nArtikelnr = "sku"\nBezeichnung = "title"\nPreis = "price"\n'
    )
    (cli.cwd / "acme.toml").write_text(profile)
    cli("profiles", "import", "acme.toml")
    assert "acme, version 1, found by its columns" in cli("preview", "goods.csv").stdout
    (cli.cwd / "acme.toml").write_text(profile + "[rules]\n")
    (cli.cwd / "bad.toml").write_text('rules = """{"type": "nonsense"}"""\n' + profile)
    assert "not a JSON Schema" in cli("profiles", "import", "bad.toml", code=2).stderr
