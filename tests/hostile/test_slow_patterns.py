"""Input that made patterns backtrack: bodies before sign-in and the beginnings of files."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from pydantic import ValidationError

from penstock.api.accounts.schemas import KeyOrder
from penstock.api.accounts.session import SignInOrder
from penstock.formats.detection.content_type import HEAD_BYTES, kind_of_bytes
from penstock.model.errors import BadInput
from penstock.model.text.media_types import media_type_of

# Processor time; each took from two seconds to minutes.
MOST_SECONDS = 0.5


def seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def test_a_long_number_in_a_body_is_checked_in_linear_time() -> None:
    def read() -> None:
        with pytest.raises(ValidationError):
            SignInOrder.model_validate({"email": "1" * 50_000 + "x", "password": "x"})

    assert seconds(read) < MOST_SECONDS


@pytest.mark.parametrize("text", ["1" * 50_000 + "x", "1" * 50_000, "1." * 25_000])
def test_a_long_number_as_a_time_is_checked_in_linear_time(text: str) -> None:
    def read() -> None:
        with pytest.raises(ValidationError):
            KeyOrder.model_validate({"name": "k", "expiresAt": text})

    assert seconds(read) < MOST_SECONDS


@pytest.mark.parametrize("number", [5, 5.5, "5", "-5", "+5.5", ".5", "5e3", "5E-3"])
def test_numbers_are_still_no_times(number: object) -> None:
    with pytest.raises(ValidationError, match="write it as"):
        KeyOrder.model_validate({"name": "k", "expiresAt": number})


HEADS = {
    "empty comments": b"<!---->" * 9000 + b"<x",
    "comments and space": b"<!-- --> " * 7000 + b"<x",
    "open comments": b"<!--" * 16_000,
    "declarations": b"<?xml>" * 10_000,
    "space": b" " * HEAD_BYTES,
    "inserts": b"INSERT INTO a (\n" * 4000,
    "one insert": b"INSERT INTO a " + b" " * 60_000,
    "copies": b"COPY " + b"a" * 60_000,
    "many copies": b"COPY aaaaaaaaaaaaaaa\n" * 3000,
    "workbooks": b"<?xml?><a>" + b"<Workbook " * 6000,
}


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS.keys())
def test_the_beginning_of_a_file_is_recognised_in_linear_time(head: bytes) -> None:
    def detect() -> None:
        with suppress(BadInput):
            kind_of_bytes(head[:HEAD_BYTES])

    assert seconds(lambda: media_type_of("list.xml", "", head[:HEAD_BYTES])) < MOST_SECONDS
    assert seconds(detect) < MOST_SECONDS


@pytest.mark.parametrize(
    "prologue",
    [
        b"",
        b"\xef\xbb\xbf",
        b" \n",
        b"<?xml version='1.0'?>",
        b"<!-- a --><!---->\n<?xml?> <!--b-->",
    ],
)
def test_pages_are_recognised_behind_any_prologue(prologue: bytes) -> None:
    page, picture = prologue + b"<!DOCTYPE html><html>", prologue + b"<svg onload='x'>"
    assert kind_of_bytes(page) == "html"
    assert media_type_of("a.txt", "", page) == "text/html"
    with pytest.raises(BadInput, match="SVG"):
        kind_of_bytes(picture)
    assert media_type_of("a.txt", "", picture) == "image/svg+xml"
