"""Configurations as text: lines of their parts, and texts that are made to take long."""

from __future__ import annotations

import time

import pytest

from penstock.model.errors import BadInput
from penstock.model.sources.document import read_document

TOML = """
name = "a"
url = "https://api.example.com/x"

[auth]
kind = "bearer"  # comment

[mapping]
"price.amount" = "price"
'title' = "name"
[lookups . countries]
DE = "Germany"
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("name",), 2), (("auth", "kind"), 6), (("mapping", "price.amount"), 9),
        (("mapping", "title"), 10), (("lookups", "countries", "DE"), 12), (("mapping", "no"), 8),
    ],
)  # fmt: skip
def test_lines_of_toml(place: tuple[str, ...], line: int) -> None:
    assert read_document(TOML, is_toml=True).line_of(place) == line


def test_lines_of_json() -> None:
    text = '{\n "name": "a",\n "mapping": {\n  "title": "name",\n  "x": ["]", {"y": 1}]\n }\n}'
    document = read_document(text, is_toml=False)
    assert document.line_of(("mapping", "title")) == 4
    assert document.line_of(("mapping", "x", "1", "y")) == 5


@pytest.mark.parametrize("is_toml", [True, False])
@pytest.mark.parametrize(
    "text",
    ["a." * 60_000, '"a"' * 40_000, " " * 100_000 + "x", "[" * 100_000, "a . " * 40_000,
     '"' * 100_000, "{" * 100_000, '{"a":' * 20_000, 'a = "' + "\\" * 100_000],
    ids=range(9),
)  # fmt: skip
def test_hostile_texts_are_refused_soon(text: str, is_toml: bool) -> None:
    began = time.process_time()
    with pytest.raises(BadInput, match=r"valid|nested|bytes"):
        read_document(text, is_toml=is_toml)
    assert time.process_time() - began < 2


@pytest.mark.parametrize("line", ["a." * 4_000 + "a", '"a"' * 3_000, "a . " * 2_000])
def test_hostile_lines_of_valid_toml_take_no_time(line: str) -> None:
    """The lines are searched in texts that are valid, too: within a text of several lines."""
    began = time.process_time()
    document = read_document(f"name = '''\n{line}\n'''\nurl = 'x'\n", is_toml=True)
    assert document.line_of(("url",)) == 4
    assert time.process_time() - began < 1
