"""SimHash of pages."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from penstock.pipelines.crawl.simhash import THRESHOLD, distance, signed, simhash, visible_text

_TEXT = " ".join(f"word{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(300))


def test_numbers_scripts_and_tags_do_not_matter() -> None:
    page = f"<html><body class='a'><p>{_TEXT} at 12:30 for 9.90</p></body></html>"
    other = (
        f"<html><script>var x = '<p>other</p>';</script><!-- <p> --><body><div>{_TEXT} at 23:59 for"
        " 11.20</div></body></html>"
    )
    assert simhash(page) == simhash(other)


def test_a_few_words_are_near_and_another_page_is_far() -> None:
    base = simhash(f"<p>{_TEXT}</p>")
    assert distance(base, simhash(f"<p>{_TEXT} sale today</p>")) <= THRESHOLD
    other = " ".join(reversed([word[::-1] for word in _TEXT.split()]))
    assert distance(base, simhash(f"<p>{other}</p>")) > 15
    assert simhash("") == 0


def test_hostile_markup_takes_linear_time() -> None:
    began = time.process_time()
    for piece in ("<", "<!--", "<script>", "<p", "</script", "<script>x</scrip", "&lt;"):
        simhash(piece * (1_000_000 // len(piece)))
    assert time.process_time() - began < 5


@given(st.text("<>!-/scriptyle ab1", max_size=200))
def test_any_text_has_a_hash(text: str) -> None:
    value = simhash(text)
    assert 0 <= value < 2**64
    assert -(2**63) <= signed(value) < 2**63
    assert distance(value, signed(value)) == 0
    assert sum(map(len, visible_text(text))) <= len(text)
