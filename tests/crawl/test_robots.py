"""Rules of robots.txt."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.crawl.robots import RobotsRules, parse_robots, product_token, wildcard_match

AGENT = "Penstock/1.0 (+https://example.com)"


@pytest.mark.parametrize(
    ("robots", "path", "allowed"),
    [
        ("User-agent: *\nDisallow: /", "/x", False),
        ("User-agent: *\nDisallow:", "/x", True),
        ("User-agent: *\nDisallow: /\nAllow: /x", "/x/1", True),
        ("User-agent: *\nAllow: /x\nDisallow: /x", "/x", True),
        ("User-agent: other\nDisallow: /", "/x", True),
        ("User-agent: other\nUser-agent: PENSTOCK\nDisallow: /", "/x", False),
        ("User-agent: penstock\nDisallow: /a\n\nUser-agent: *\nDisallow: /", "/x", True),
        ("User-agent: penstock/2.0\nDisallow: /", "/x", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?x", True),
        ("User-agent: *\nDisallow: /*?sort=", "/list?sort=price", False),
        ("# comment\nUser-agent: * # all\nDisallow: /p # pages", "/p", False),
        ("\ufeffUser-agent: *\r\nDisallow: /p\r\n", "/p", False),
        ("User-agent: *\nDisallow: /", "/robots.txt", True),
        ("nonsense\n:::\nUser-agent\nDisallow: /", "/x", True),
    ],
)
def test_what_is_allowed(robots: str, path: str, allowed: bool) -> None:
    rules = parse_robots(robots.encode(), AGENT)
    assert rules.allows(f"https://shop.example{path}") is allowed
    assert RobotsRules.of_json(rules.as_json()) == rules


@pytest.mark.parametrize(
    ("said", "ms"),
    [
        ("2", 2000),
        ("0.5", 500),
        ("86400", 60_000),
        ("-1", 0),
        ("nan", 0),
        ("inf", 60_000),
        ("x", 0),
    ],
)
def test_crawl_delay(said: str, ms: int) -> None:
    rules = parse_robots(f"User-agent: *\nCrawl-delay: {said}\n".encode(), AGENT)
    assert rules.crawl_delay_ms == ms


def test_the_name_that_robots_address() -> None:
    assert product_token(AGENT) == "penstock"
    assert product_token("123") == "*"


@given(st.binary(max_size=2000))
def test_any_bytes_give_rules(body: bytes) -> None:
    assert isinstance(parse_robots(body, AGENT).allows("https://a.example/x"), bool)


@given(st.text("ab*", max_size=12), st.text("ab", max_size=12))
def test_wildcards_match_as_an_expression_does(pattern: str, text: str) -> None:
    expression = "".join(".*" if one == "*" else re.escape(one) for one in pattern)
    assert wildcard_match(pattern, text) == bool(re.match(expression, text))
    assert wildcard_match(f"{pattern}$", text) == bool(re.fullmatch(expression, text))
