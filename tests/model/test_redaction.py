"""Secrets are cut out of texts, the rest of them stays, and no text takes long."""

from __future__ import annotations

import time

import pytest

from penstock.model.text.redaction import redacted, redacted_values, register_secret

SECRET = "Zq7-canary_9Xw2LmN4pR8sT6vY"


@pytest.mark.parametrize(
    "text",
    [
        f"the key pk_{SECRET} is revoked",
        f"whsec_{SECRET}==",
        f"connection to postgresql://penstock:{SECRET}@db.example:5432/x failed",
        f"http://user:{SECRET}@proxy/",
        f"Authorization: Bearer {SECRET}",
        f"GET /hook?token={SECRET}&x=1",
        f"password={SECRET}",
        f"penstock_session={SECRET}; Path=/",
        f"x-api-key={SECRET}",
        f"{{'password': '{SECRET}', 'x': 1}}",
        f'{{"clientSecret":"{SECRET}"}}',
        f"[('authorization', 'Basic {SECRET}')]",
        f"(b'cookie', b'penstock_session={SECRET}')",
        f"headers={{'cookie': 'a={SECRET}'}}",
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str) -> None:
    shown = redacted(text)
    assert SECRET not in shown
    assert "[hidden]" in shown
    assert redacted(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Row 7: the column 'price' holds '9,90 €'",
        "There is no field 'password' here.",
        "The secret is shown once: keep it.",
        "postgresql://db.example:5432/penstock",
        "https://example.com/a:b@c",
        "the token was refused",
        "api_key: needed",
    ],
)
def test_the_rest_stays(text: str) -> None:
    assert redacted(text) == text


def test_what_was_told_is_hidden_however_it_looks() -> None:
    register_secret("hunter2-of-the-database")
    assert redacted("role said hunter2-of-the-database!") == "role said [hidden]!"
    register_secret("short")
    assert redacted("short") == "short"


def test_values_under_the_name_of_a_secret_are_hidden() -> None:
    told = {"password": SECRET, "list": [{"apiKey": SECRET}, f"pk_{SECRET}"], "count": 3,
            "password_set": True}  # fmt: skip
    shown = redacted_values(told)
    assert SECRET not in str(shown)
    assert (shown["count"], shown["password_set"]) == (3, True)


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "a-" * 50_000, "token" * 20_000, "a.b" * 30_000, "'token" * 15_000,
     "x://" * 25_000, "pk_" * 30_000, "token=" * 15_000, "'token': '\\" * 8000, "a:b@" * 25_000],
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    redacted(text)
    assert time.process_time() - began < 1.5
