"""How often one caller may ask."""

from __future__ import annotations

import pytest
from fastapi import FastAPI
from tests.api.conftest import Caller, client_of, refused

from penstock.api.http.rate_limits import Buckets
from penstock.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={"requests_per_second": 0.5, "requests_burst": 5, "sign_in_failures_network": 8}
    )


def test_a_bucket_empties_and_fills_again() -> None:
    now = 0.0
    buckets = Buckets(2, 3, clock=lambda: now)
    assert [buckets.wait_ms("a") for _ in range(4)] == [0, 0, 0, 500]
    assert buckets.wait_ms("b") == 0
    now = 0.5
    assert [buckets.wait_ms("a") for _ in range(2)] == [0, 500]
    now = 100
    assert [buckets.wait_ms("a") for _ in range(4)] == [0, 0, 0, 500]


def test_no_limit_is_no_limit() -> None:
    buckets = Buckets(0, 1)
    assert {buckets.wait_ms("a") for _ in range(1000)} == {0}


def test_callers_are_forgotten_before_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.api.http.rate_limits._MOST_CALLERS", 3)
    buckets = Buckets(1, 1, clock=lambda: 0.0)
    assert [buckets.wait_ms(caller) for caller in "abcd"] == [0, 0, 0, 0]
    assert buckets.wait_ms("d") == 1000
    assert buckets.wait_ms("a") == 0


async def test_a_key_that_asks_too_often_waits_and_others_do_not(caller: Caller) -> None:
    eager, other = await caller(), await caller(email="other@acme")
    answers = [await eager.get("/api/jobs") for _ in range(5)]
    assert {answer.status_code for answer in answers} == {200}
    late = await eager.get("/api/jobs")
    refused(late, 429, "RATE_LIMITED")
    assert int(late.headers["retry-after"]) in (1, 2)
    assert (await other.get("/api/jobs")).status_code == 200


async def test_wrong_keys_are_counted_per_address_and_shut_nobody_else_out(
    app: FastAPI, caller: Caller
) -> None:
    right = await caller()
    async with client_of(app, "pk_wrong") as wrong:
        for _ in range(4):
            refused(await wrong.get("/api/jobs"), 401, "AUTHENTICATION_FAILED")
        refused(await wrong.get("/api/jobs"), 429, "RATE_LIMITED")
    assert (await right.get("/api/jobs")).status_code == 200
    async with client_of(app, None) as nobody:
        refused(await nobody.get("/api/jobs"), 401, "AUTHENTICATION_FAILED")
