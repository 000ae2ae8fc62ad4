"""Failures of one kind have one signature, whatever they were about."""

from __future__ import annotations

import time
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.text.failure_signature import message_pattern, signature

pytestmark = pytest.mark.slow

PLAIN = st.text(st.characters(exclude_characters="'\"`“”«»‘’", exclude_categories=["Cs"]))
NUMBERS = st.one_of(
    st.integers(), st.floats(allow_nan=False, allow_infinity=False).map("{:f}".format)
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The file has no column 'Preis'", "The file has no column 'Price in €'"),
        ('No column "a".', 'No column "the other, with a comma".'),
        ("Row 7 has 12 cells", "Row 90,512 has 3 cells"),
        ("took 1.5 s, -3 °C", "took 12,000.75 s, +18 °C"),
        (
            "no file 0190f6a1-7c1e-7d3a-9b7e-0c5a1f2e3d4c",
            "no file 0190F6A1-0000-7D3A-9B7E-0C5A1F2E3D4C",
        ),
        ("cannot open /var/lib/goods.csv: gone", "cannot open /srv/a/b/c-2.xlsx: gone"),
        (r"cannot open C:\data\goods.csv", r"cannot open D:\x\y\z"),
        ("object at 0x7f1c2a", "object at 0xdeadbeef00"),
        ("blob 9f86d081884c7d659a2feaa0", "blob 0a4d55a8d778e5022fab701977c5d840"),
        ("GET https://a.example/x?y=1 failed", "GET http://b.example:8080/ failed"),
        ("stage2 of worker7 died", "stage14 of worker1 died"),
        ("too  many\nrows", "too many rows"),
    ],
)
def test_what_differs_each_time_does_not_matter(one: str, other: str) -> None:
    assert message_pattern(one) == message_pattern(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The file has no column 'a'", "The file has no header 'a'"),
        ("the job's file is gone", "the job's row is gone"),
        ("and/or", "either"),
        ("KeyError: 'a'", "ValueError: 'a'"),
    ],
)
def test_words_do(one: str, other: str) -> None:
    assert message_pattern(one) != message_pattern(other)


def test_what_the_details_repeat_does_not_matter() -> None:
    text = "The mapping names columns the file does not have: "
    one = message_pattern(text + "Preis", {"unknown": ["Preis"]})
    other = message_pattern(text + "Prix unitaire, Titel", {"unknown": ["Titel", "Prix unitaire"]})
    assert one == other == text + "<value>"
    # A value is a word of its own, and a single letter is none.
    assert message_pattern("a file of files", {"a": "a", "b": ["file"]}) == "a <value> of files"


@given(st.text(), st.dictionaries(st.text(), st.recursive(st.text(), st.lists)))
def test_any_details_will_do(message: str, known: dict[str, object]) -> None:
    assert message_pattern(message, known) == message_pattern(message, known)


@given(PLAIN, PLAIN)
def test_quoted_values_do_not_matter(one: str, other: str) -> None:
    assert message_pattern(f"No column '{one}' here"[:900]) == message_pattern(
        f"No column '{other}' here"[:900]
    )


@given(NUMBERS, NUMBERS)
def test_numbers_do_not_matter(one: object, other: object) -> None:
    assert signature("noop", "X", f"row {one} failed") == signature(
        "noop", "X", f"row {other} failed"
    )


@given(st.uuids(), st.uuids())
def test_ids_do_not_matter(one: UUID, other: UUID) -> None:
    assert message_pattern(f"There is no file {one}.") == message_pattern(
        f"There is no file {other}."
    )


@given(st.text(), st.sampled_from(["noop", "extraction"]), st.sampled_from(["A_CODE", "B_CODE"]))
def test_it_is_stable_and_says_pipeline_and_code(message: str, pipeline: str, code: str) -> None:
    made = signature(pipeline, code, message)
    assert made == signature(pipeline, code, message)
    assert made.startswith(f"{pipeline}:{code}:")
    assert made != signature(pipeline, code + "_2", message)
    assert made != signature(pipeline + "_2", code, message)


@pytest.mark.parametrize("nasty", ["'" * 10**6, "/a" * 10**6, "1," * 10**6, "a" * 10**6 + "://"])
def test_no_message_takes_long(nasty: str) -> None:
    began = time.process_time()
    signature("noop", "X", nasty, {"all": [nasty[:n] for n in range(5000)]})
    assert time.process_time() - began < 0.5
