"""Every trait of messy text files, and collections of others, against truths made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.messy.cases import CASES, PRODUCTS, Case
from benchmarks.messy.hard_cases import HARD
from benchmarks.messy.survey import SURVEY
from benchmarks.messy_csv import DATA, Sample, collection, samples, score
from benchmarks.messy_csv import penstock as our_reading
from tests.formats.support import needs_data, read, refusal


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file.csv"


@pytest.mark.parametrize("case", [*CASES, *HARD, *SURVEY], ids=lambda case: case.name)
def test_traits(file: Path, case: Case) -> None:
    file.write_bytes(case.content)
    assert read(file).table == case.table


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 60
    assert len({case.name for case in [*CASES, *HARD, *SURVEY]}) == len(CASES) + len(HARD) + len(
        SURVEY
    )


@needs_data
@pytest.mark.parametrize("sample", collection() if DATA.exists() else [], ids=lambda one: one.name)
def test_collected_files(sample: Sample) -> None:
    if sample.table is None:
        assert refusal(sample.path).code == "EMPTY_FILE"
    else:
        assert read(sample.path).table == sample.table


@needs_data
def test_the_score_is_what_it_says(tmp_path: Path) -> None:
    scores = [score(our_reading, sample) for sample in samples(tmp_path)]
    assert sum(one.right for one in scores) >= 0.98 * sum(one.cells for one in scores)


def test_the_report_says_what_was_found(file: Path) -> None:
    lines = ";".join(PRODUCTS[0]), *(";".join(row) for row in PRODUCTS[1:])
    text = "Price list 2024\n\n" + "\n".join(lines) + "\nTotal;;2520.65;1135\n"
    file.write_bytes(text.encode())
    found = read(file).found
    assert (found["format"], found["encoding"], found["delimiter"]) == ("csv", "utf-8", ";")
    assert found["header_rows"] == [3]
    assert found["preamble"] == [{"line": 1, "text": "Price list 2024"}]
    assert found["footer"] == [{"line": 8, "text": "Total;;2520.65;1135"}]
    assert found["confidence"] == 1.0


def test_what_could_be_otherwise_is_said(file: Path) -> None:
    file.write_bytes("id;name\n1;Müller\n2;Köhler\n".encode("cp1252"))
    found = read(file).found
    assert found["encoding"] == "cp1252"
    assert any("cp1250" in said for said in found["ambiguities"])
    assert found["confidence"] < 1


def test_the_caller_knows_better(file: Path) -> None:
    file.write_bytes(b"junk\na|b;c\n1|2;3\n")
    assert read(file, {"delimiter": "|", "header_row": 2}).table == [["a", "b;c"], ["1", "2;3"]]
    assert read(file, {"delimiter": ";", "skip_rows": 1}).table == [["a|b", "c"], ["1|2", "3"]]
    no_header = read(file, {"delimiter": ";", "header_row": 0, "skip_rows": 1})
    assert no_header.rows == [["a|b", "c"], ["1|2", "3"]]
    file.write_bytes("a\nä\n".encode("cp1250"))
    assert read(file, {"encoding": "koi8-r"}).rows == [["Д"]]


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": "\n"},
        {"quote": "ab"},
        {"encoding": "klingon"},
        {"encoding": "hex"},
        {"format": "docx"},
        {"format": "xlsx"},
        {"header_row": 99},
        {"header_row": -1},
        {"delimiter": '"', "quote": '"'},
    ],
)
def test_options_that_cannot_be_right(file: Path, options: dict[str, object]) -> None:
    file.write_bytes(b"a,b\n1,2\n")
    assert refusal(file, options).code == "INVALID_PARAMETERS"


def test_problems_name_their_line(file: Path) -> None:
    file.write_bytes(b'a,b,c\n1,2,3\n4,5\n6,"open,7\n8,9,10\n11,12,13,14\n')
    problems = [(one["code"], one["line"]) for one in read(file).end.problems]
    assert sorted(problems) == [("RAGGED_ROW", 3), ("RAGGED_ROW", 6), ("UNBALANCED_QUOTE", 4)]


def test_notes_at_the_end_of_a_long_file_are_found(file: Path) -> None:
    body = "".join(f"{number};some longer text here;{number}.50\n" for number in range(100_000))
    file.write_bytes(f"id;text;price\n{body}\nTotal;;99\nSource: ACME\n".encode())
    reading = read(file)
    assert len(reading.rows) == 100_000
    assert [line["text"] for line in reading.end.footer] == ["Total;;99", "Source: ACME"]


def test_a_surprise_far_down_is_a_row_problem(file: Path) -> None:
    body = [f"{number};text {number};1,50" for number in range(120_000)]
    body[90_000] = '90000;"never closed;1,50'
    file.write_text("id;text;price\n" + "\n".join(body))
    reading = read(file)
    assert len(reading.rows) == 120_000
    assert reading.rows[90_000] == ["90000", '"never closed', "1,50"]
    assert [one["line"] for one in reading.end.problems] == [90_002]
