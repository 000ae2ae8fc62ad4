"""All problems that a row can have: code, severity, message and advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Code:
    """``message`` and ``advice`` may contain placeholders such as ``{value}``."""

    severity: Severity
    message: str
    advice: str


CODES: dict[str, Code] = {
    # Rows
    "REQUIRED_MISSING": Code(
        "error",
        "the field {field} is empty",
        "fill the cell, map another column, or drop it from `required`",
    ),
    "RULE_VIOLATED": Code(
        "error", "the rules do not allow {detail}", "fix the cell, or change the profile's rules"
    ),
    "ROW_TOO_LONG": Code(
        "error",
        "the row has {cells} cells, the header has {columns}",
        "look for a delimiter or quote inside a cell",
    ),
    "COLUMN_UNKNOWN": Code(
        "error",
        "the profile does not know this column",
        "add the column to the profile, or set its contract to `evolve`",
    ),
    "EXPRESSION_FAILED": Code(
        "warning",
        "the expression of the field has no result: {detail}",
        "correct the mapping of the source",
    ),
    "VALUE_DISCARDED": Code(
        "warning", "left out: {detail}", "fix the cell, or set the contract to `evolve`"
    ),
    "CELL_ERROR": Code(
        "error",
        "the spreadsheet shows the error {value}",
        "repair the formula and save the file again",
    ),
    "TEXT_TOO_LONG": Code(
        "warning",
        "longer than {limit} characters; the rest was cut",
        "shorten the text",
    ),
    "TEXT_UNREADABLE": Code(
        "warning",
        "contains characters that could not be decoded",
        "name the file's encoding and read it again",
    ),
    # Numbers and prices
    "NUMBER_UNREADABLE": Code("error", "{value!r} is not a number", "write a plain number"),
    "NUMBER_AMBIGUOUS": Code(
        "warning",
        "{value!r} can be {one} or {other}; the column does not decide it; read as {one}",
        "set `decimal` of the profile to `comma` or `point`",
    ),
    "NUMBER_NEGATIVE": Code("error", "{value!r} is below zero", "write a number from zero up"),
    "NUMBER_OUT_OF_RANGE": Code(
        "error", "{value!r} is outside {low} to {high}", "write a number in that range"
    ),
    "NUMBER_ROUNDED": Code(
        "warning", "{value!r} is not a whole number; taken as {one}", "write a whole number"
    ),
    "PRICE_UNREADABLE": Code(
        "error", "{value!r} is not a price", "write an amount, like 12.50 EUR"
    ),
    "PRICE_NEGATIVE": Code("error", "the price {value!r} is below zero", "write the price itself"),
    "PRICE_ON_REQUEST": Code(
        "warning", "the price is on request; it is left empty", "add a price if there is one"
    ),
    "PRICE_FREE": Code("warning", "{value!r} is read as 0", "check that it is really free"),
    "PRICE_RANGE": Code(
        "warning", "{value!r} is a range; its lower end was taken", "give one price per row"
    ),
    "PRICE_FROM": Code(
        "warning", "{value!r} is a lowest price, not a fixed one", "give the exact price"
    ),
    "PRICE_SEVERAL": Code(
        "warning",
        "{value!r} contains several prices; the first was taken",
        "give one price per cell",
    ),
    "TIERS_UNREADABLE": Code(
        "warning", "{value!r} is not a list of tier prices", "write tiers like 1+ 9.90; 10+ 8.50"
    ),
    "TIERS_WITHOUT_PRICE": Code(
        "warning",
        "the tiers are discounts in percent, but the row has no price",
        "map the column of the price, or write the tiers as prices",
    ),
    "CURRENCY_MISSING": Code(
        "warning", "no cell, header or profile names the currency", "set `currency` of the profile"
    ),
    "CURRENCY_UNKNOWN": Code(
        "error", "{value!r} is not a currency", "use a three-letter code, like EUR"
    ),
    "CURRENCY_DIFFERS": Code(
        "warning",
        "this amount is in {one}, the price of the product in {other}; it is left out",
        "give all prices of a product in one currency",
    ),
    "CURRENCY_CONFLICT": Code(
        "warning",
        "the price says {one}, the currency column says {other}; {one} was taken",
        "make both columns agree",
    ),
    "RATE_MISSING": Code(
        "warning",
        "no rate from {one} to {other} for that day; the base price is left empty",
        "import rates for this currency",
    ),
    # Units and measures
    "UNIT_UNKNOWN": Code(
        "warning", "the unit {value!r} is not known; kept as written", "use a known unit, like kg"
    ),
    "UNIT_MISSING": Code(
        "warning",
        "{value!r} has no unit and no header or profile gives one",
        "set the column's `unit` in the profile",
    ),
    "PACK_UNREADABLE": Code(
        "warning", "{value!r} is not a pack size", "write pack sizes like 6 x 330 ml"
    ),
    "MEASURE_UNREADABLE": Code(
        "error", "{value!r} is not a measure", "write a number and a unit, like 1.5 kg"
    ),
    "DIMENSIONS_UNREADABLE": Code(
        "error", "{value!r} are not dimensions", "write them like 10 x 20 x 30 cm"
    ),
    # Words
    "BOOLEAN_UNREADABLE": Code("error", "{value!r} is neither yes nor no", "write yes or no"),
    "AVAILABILITY_UNKNOWN": Code(
        "warning",
        "{value!r} is not a known availability; left empty",
        "use in stock, out of stock, limited, preorder or backorder",
    ),
    "AVAILABILITY_CONFLICT": Code(
        "warning",
        "the status says {one}, the quantity says {other}; the status was kept",
        "make both columns agree",
    ),
    "STOCK_NEGATIVE": Code(
        "warning",
        "the stock {value!r} is below zero, more was sold than there is; taken as 0",
        "nothing to do, if the supplier reports stock like that",
    ),
    "LEAD_TIME_UNREADABLE": Code(
        "warning", "{value!r} is not a lead time", "write days, like 3, or 2-3 weeks"
    ),
    # Dates
    "DATE_UNREADABLE": Code("error", "{value!r} is not a date", "write dates like 2026-11-30"),
    "DATE_AMBIGUOUS": Code(
        "warning",
        "{value!r} can be {one} or {other}; the column does not decide it; read as {one}",
        "set `dates` of the profile to `dmy` or `mdy`",
    ),
    # Identifiers
    "GTIN_CHECK_DIGIT": Code(
        "error", "the check digit of {value!r} is wrong", "compare it with the barcode"
    ),
    "GTIN_UNREADABLE": Code(
        "error", "{value!r} is not a GTIN, EAN, UPC or ISBN", "write 8, 12, 13 or 14 digits"
    ),
    "GTIN_LOST": Code(
        "error",
        "{value!r} lost digits in a spreadsheet; they cannot be recovered",
        "format the column as text and export it again",
    ),
    "GTIN_REPAIRED": Code(
        "warning",
        "{value!r} was written as {one}",
        "format the column as text, so that nothing is lost",
    ),
    "GTIN_CONVERTED": Code("warning", "the ISBN-10 {value!r} became {one}", "nothing to do"),
    "GTIN_SEVERAL": Code(
        "warning", "{value!r} contains several numbers; the first valid one was taken", "keep one"
    ),
    "GTIN_IN_STORE": Code(
        "warning",
        "{value!r} is a number for use inside one shop only",
        "use the manufacturer's number",
    ),
    "GTIN_PLACEHOLDER": Code(
        "warning", "{value!r} is a placeholder; left empty", "leave the cell empty"
    ),
    "IDENTIFIER_MANGLED": Code(
        "warning",
        "{value!r} looks like a number a spreadsheet has changed",
        "format the column as text and export it again",
    ),
    # Links
    "URL_UNREADABLE": Code("error", "{value!r} is not a web address", "write it with https://"),
    "URL_UNSAFE": Code("error", "URLs of the kind {value!r} are refused", "use http or https"),
    "IMAGE_NOT_URL": Code(
        "warning",
        "{value!r} is a file name, not a URL; left out",
        "give the full URL of the image",
    ),
    "IMAGES_TOO_MANY": Code(
        "warning", "only the first {limit} images were kept", "list fewer images"
    ),
    # Groups and duplicates
    "VARIANT_WITHOUT_PARENT": Code(
        "error",
        "the variant group {value!r} has no row with a title",
        "add the parent row, or a title",
    ),
    "DUPLICATE_IN_FILE": Code(
        "warning",
        "the same {field} {value!r} is in row {row}; that row was kept",
        "remove one of the rows, or choose another winner",
    ),
}


def describe(code: str, **words: object) -> str:
    """The message and, after a colon, the advice."""
    known = CODES[code]
    text = f"{known.message.format_map(words)}: {known.advice}"
    return text[0].upper() + text[1:]
