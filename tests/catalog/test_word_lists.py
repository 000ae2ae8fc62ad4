"""The word lists in `catalog/data/`: all of them are read, well-formed and in the wheel."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest

import penstock.catalog
from penstock.catalog import word_lists
from penstock.catalog.fields import BY_TARGET, full_target
from penstock.catalog.word_lists import by_word, entries, load, parse, phrases

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(
    file.name.removesuffix(".txt") for file in files("penstock.catalog").joinpath("data").iterdir()
)


def test_every_list_is_used() -> None:
    """By name in some module, so that no list is forgotten beside the code."""
    code = ""
    for module in pkgutil.walk_packages(penstock.catalog.__path__, "penstock.catalog."):
        source = importlib.import_module(module.name).__file__
        assert source is not None
        code += Path(source).read_text("utf-8")
    assert [name for name in NAMES if f'load("{name}")' not in code] == []
    assert len(NAMES) > 10


@pytest.mark.parametrize("name", NAMES)
def test_list_is_well_formed(name: str) -> None:
    sections = load(name)
    assert sections
    for heading, text in sections.items():
        lines = text.splitlines()
        assert heading == heading.strip()
        assert [line for line in lines if line != line.rstrip() or "\t" in line] == []
        assert [line for line in lines if len(line) > 100] == []
        if " = " in text:
            keys = [key for key, _ in entries(text)]
            assert len(keys) == len(set(keys)), heading
        else:
            found = phrases(text) if "|" in text else tuple(text.split())
            assert len(found) == len(set(found)), heading


def test_lists_are_read_once_and_cannot_be_changed() -> None:
    assert load("booleans") is load("booleans")
    with pytest.raises(TypeError):
        load("booleans")["yes"] = "no"  # type: ignore[index]


@pytest.mark.parametrize(
    "name",
    [
        "synonyms",
        "synonyms_europe",
        "synonyms_world",
        "synonyms_systems",
        "synonyms_logistics",
    ],
)
def test_synonyms_belong_to_fields(name: str) -> None:
    assert [target for target in load(name) if target not in BY_TARGET] == []


def test_headers_of_platforms_belong_to_fields() -> None:
    for headers in load("platforms").values():
        for target, names in entries(headers):
            assert full_target(target) is not None, target
            assert phrases(names)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\nx\n[a]\ny\n", "occurs twice"),
        ("x\n[a]\ny\n", "before the first heading"),
        ("[a]\n# only a comment\n[b]\ny\n", "without text: a"),
    ],
)
def test_malformed_list_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_parts_of_a_section() -> None:
    text = parse("# comment\n[a]\nEUR = € euro\n    euros\n# comment\nJPY = ¥\n")["a"]
    assert by_word(text) == {"€": "EUR", "euro": "EUR", "euros": "EUR", "¥": "JPY"}
    assert list(entries(text)) == [("EUR", "€ euro euros"), ("JPY", "¥")]
    assert phrases("in stock|\nready to\nship|") == ("in stock", "ready to ship")
    with pytest.raises(ValueError, match="no `key = text`"):
        list(entries("EUR"))


@pytest.mark.slow
def test_wheel_contains_the_lists(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    made = subprocess.run(
        [*build, "-q", "-w", str(tmp_path), str(ROOT)], capture_output=True, text=True
    )
    if "hatchling" in made.stderr and made.returncode:
        pytest.skip("hatchling is not installed here")
    assert made.returncode == 0, made.stderr
    (wheel,) = tmp_path.glob("*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    assert {f"penstock/catalog/data/{name}.txt" for name in NAMES} <= inside


def test_loader_reads_the_package_only() -> None:
    with pytest.raises(FileNotFoundError):
        word_lists.load("no_such_list")
