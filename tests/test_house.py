"""The rules of the architecture. Those that are counted are in `tests/house/rules.py`."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from penstock.store.queries import load
from tests.house.places import ROOT, files, lines_of, source
from tests.house.ratchet import Rule, above, recorded
from tests.house.rules import RULES

SOURCE = source()
SQL_FAMILIES = sorted(path.stem for path in (SOURCE / "store" / "sql").rglob("*.sql"))


def python_files(folder: Path) -> list[Path]:
    return list(files(folder, "**/*.py"))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.name))
def test_counts_only_go_down(rule: Rule) -> None:
    more = above(rule.find(ROOT), recorded(rule.name))
    assert more == [], f"{rule.advice}\n" + "\n".join(more)


def test_files_stay_small() -> None:
    sizes = sorted((len(lines_of(path)), path.name) for path in python_files(SOURCE))
    assert sizes[-1][0] <= 600, f"divide {sizes[-1][1]} by subject"
    assert sizes[int(len(sizes) * 0.95)][0] <= 400, f"divide the largest: {sizes[-15:]}"
    assert sizes[len(sizes) // 2][0] <= 150
    tests = [(len(lines_of(path)), path.name) for path in python_files(ROOT / "tests")]
    assert max(tests)[0] <= 800, f"divide {max(tests)[1]} by subject"


@pytest.mark.parametrize("family", SQL_FAMILIES)
def test_every_statement_has_a_name_a_purpose_and_a_user(family: str) -> None:
    code = "\n".join(path.read_text("utf-8") for path in python_files(SOURCE))
    for name in load(family).names():
        statement = getattr(load(family), name)
        assert statement.startswith("-- "), f"{family}.{name} has no line of purpose"
        assert re.search(rf"\.{name}\b", code), f"{family}.{name} is used nowhere"


def test_sql_lives_in_the_store_only() -> None:
    """Roles and databases of the embedded server are made before there is a store."""
    allowed = {SOURCE / "supervisor" / "roles.py", SOURCE / "brokers" / "postgres.py"}
    sql = re.compile(r'"\s*(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE TABLE)\b')
    found = [
        str(path.relative_to(ROOT))
        for path in python_files(SOURCE)
        if SOURCE / "store" not in path.parents and path not in allowed
        for line in path.read_text("utf-8").splitlines()
        if sql.search(line) and "SELECT 1" not in line
    ]
    assert found == []


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date() -> None:
    for name, page in generator().PAGES.items():
        written = (ROOT / "docs" / name).read_text("utf-8")
        assert written == page(), f"docs/{name} is old: run python docs/generate.py"


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    dead = [
        f"{page.relative_to(ROOT)} → {target}"
        for page in pages
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8"))
        if not (page.parent / target).exists()
    ]
    assert dead == []


def test_the_tour_names_rooms_that_exist() -> None:
    tour = (ROOT / "docs" / "tour.md").read_text("utf-8")
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    named = set(re.findall(r"^\s{2}(\w+)/", tour, re.MULTILINE)) | {"cli"}
    assert named <= rooms
    unnamed = {room for room in rooms - named if any(python_files(SOURCE / room))}
    assert unnamed == set()


def test_lock_files_record_no_addresses() -> None:
    for path in (ROOT / "requirements").glob("*.txt"):
        text = path.read_text("utf-8")
        assert "://" not in text
        assert "--index" not in text
        assert "--find-links" not in text


def test_lock_files_have_hashes() -> None:
    """Of every file of each package, so that they hold on all platforms."""
    locks = [*(ROOT / "requirements").glob("*.txt"), ROOT / "benchmarks/peers/requirements.txt"]
    assert len(locks) == 3
    for path in locks:
        text = path.read_text("utf-8")
        entries = re.split(r"\n(?=[^\s#])", re.sub(r"^#.*\n", "", text, flags=re.M).strip())
        assert len(entries) > 20
        assert [one for one in entries if "==" not in one.partition("\n")[0]] == []
        assert [one for one in entries if "\n    --hash=sha256:" not in one] == []
    make = (ROOT / "Makefile").read_text("utf-8")
    assert make.count("install --require-hashes -r") == make.count("install -r") + 2


def test_nothing_of_this_machine_is_tracked() -> None:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "grep", "-nIE", r"/home/[a-z]+/|/root/"],
        capture_output=True,
        text=True,
    )
    if listed.returncode == 128:
        pytest.skip("not a git checkout")
    hits = [line for line in listed.stdout.splitlines() if "test_house.py" not in line]
    assert hits == []


def test_children_are_given_files_as_input_files() -> None:
    """A child cannot open any other path (see `guards/sandbox.py`)."""
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in python_files(SOURCE / "pipelines")
        for line in path.read_text("utf-8").splitlines()
        if ".blobs.path(" in line and "InputFile(" not in line
    ]
    assert found == []
