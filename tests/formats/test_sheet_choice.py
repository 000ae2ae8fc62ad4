"""Which sheet of a workbook is read where none is asked for."""

from __future__ import annotations

from penstock.formats.read_options import ReadReport
from penstock.formats.sheets.grid import SheetInfo, choose_sheet


def chosen(*sheets: SheetInfo) -> str:
    return choose_sheet(sheets, None, ReadReport("xlsx")).name


def test_a_table_beats_a_long_list_of_words() -> None:
    words = SheetInfo("Categories", 1, cells=5_000, widest=1)
    table = SheetInfo("Products", 2, cells=40, widest=8)
    assert chosen(words, table) == "Products"


def test_a_list_is_read_if_nothing_else_is_a_table() -> None:
    words = SheetInfo("E-mails", 1, cells=500, widest=1)
    form = SheetInfo("About", 2, cells=4, widest=2)
    assert chosen(form, words) == "E-mails"
    assert chosen(SheetInfo("Title", 1, cells=1, widest=1), words) == "E-mails"


def test_a_row_of_names_is_no_table() -> None:
    words = SheetInfo("E-mails", 1, cells=500, widest=1)
    names = SheetInfo("Template", 2, cells=5, widest=5)
    assert chosen(names, words) == "E-mails"


def test_instructions_and_lists_of_values_are_no_products() -> None:
    products = SheetInfo("Template", 3, cells=80, widest=8)
    for name in ("Valid Values", "Anleitung", "2. Hinweise", "Słowniki", "Mode d'emploi", "说明"):
        assert chosen(SheetInfo(name, 1, cells=900, widest=4), products) == "Template"
    # Without a table beside it, such a sheet is all there is.
    assert chosen(SheetInfo("Info", 1, cells=900, widest=4)) == "Info"
    assert (
        chosen(SheetInfo("Info", 1, cells=900, widest=4), SheetInfo("A", 2, cells=8, widest=8))
        == "Info"
    )
