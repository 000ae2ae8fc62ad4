"""Addresses allowed for one purpose stay closed to others, and this server's own to all."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import httpx2
import psutil
import pytest
from tests.api.conftest import CSV, refused
from tests.guards.servers import answering, serving

from penstock.guards.fetch import Fetcher
from penstock.guards.interfaces import own_addresses
from penstock.model.errors import PenstockError
from penstock.model.network.addresses import Address, parse_exempt, refusal_reason
from penstock.model.network.fetching import FetchPurpose, FetchRequest
from penstock.settings import FETCH_LISTS, Settings

PUBLIC = ipaddress.ip_address("93.184.216.34")
PRIVATE = ipaddress.ip_address("10.1.2.3")
OWN: frozenset[Address] = frozenset({PUBLIC, PRIVATE, ipaddress.ip_address("127.0.0.1")})


@pytest.fixture
def allowed() -> dict[str, str]:
    return {"webhook_allow": "127.0.0.1/32"}


@pytest.fixture
def settings(settings: Settings, allowed: dict[str, str]) -> Settings:
    return settings.model_copy(update=allowed)


async def test_what_webhooks_may_reach_no_job_may_read(client: httpx2.AsyncClient) -> None:
    async with serving(answering(body=CSV)) as inside:
        url = f"http://127.0.0.1:{inside.port}/secret.csv"
        for call in ("/api/jobs", "/api/jobs/preview"):
            refused(await client.post(call, json={"url": url}), 422, "URL_NOT_ALLOWED")
        assert inside.connections == 0
        made = await client.post("/api/webhooks", json={"url": url})
    assert made.status_code == 201, made.text


@pytest.mark.parametrize("allowed", [{"fetch_allow": "127.0.0.1/32"}])
async def test_what_files_may_come_from_no_webhook_may_reach(client: httpx2.AsyncClient) -> None:
    async with serving(answering(body=CSV)) as inside:
        url = f"http://127.0.0.1:{inside.port}/goods.csv"
        refused(await client.post("/api/webhooks", json={"url": url}), 422, "URL_NOT_ALLOWED")
        made = await client.post("/api/jobs", json={"url": url})
    assert made.status_code == 202, made.text


def test_every_purpose_has_its_own_list() -> None:
    assert set(FETCH_LISTS) == set(FetchPurpose)
    assert len(set(FETCH_LISTS.values())) == len(FETCH_LISTS)
    for name in FETCH_LISTS.values():
        wrong: Any = {name: "not a host!"}
        with pytest.raises(ValueError, match="neither a host's name nor a network"):
            Settings(**wrong)


@pytest.mark.parametrize(
    ("allow", "host", "address", "refused_for"),
    [
        ("", "shop.example", PUBLIC, "this server itself"),
        ("93.184.0.0/16", "shop.example", PUBLIC, "this server itself"),
        ("93.184.216.34", "shop.example", PUBLIC, None),
        ("93.184.216.34:80", "shop.example", PUBLIC, None),
        ("93.184.216.34:81", "shop.example", PUBLIC, "this server itself"),
        ("shop.example", "shop.example", PUBLIC, None),
        ("other.example", "shop.example", PUBLIC, "this server itself"),
        ("10.0.0.0/8", "a.internal", PRIVATE, "public internet"),
        ("10.1.2.3/32", "a.internal", PRIVATE, None),
        ("a.internal", "a.internal", PRIVATE, None),
        ("127.0.0.0/8", "localhost", ipaddress.ip_address("127.0.0.1"), None),
        ("0.0.0.0/0", "localhost", ipaddress.ip_address("127.0.0.1"), "public internet"),
    ],
)
def test_own_addresses_must_be_named_one_by_one(
    allow: str, host: str, address: Address, refused_for: str | None
) -> None:
    why = refusal_reason(parse_exempt(allow), host, address, 80, OWN)
    assert (why is None) == (refused_for is None), why
    assert refused_for is None or refused_for in str(why)


def test_all_addresses_of_all_interfaces_are_own() -> None:
    own: Any = own_addresses()
    for listed in psutil.net_if_addrs().values():
        for one in listed:
            if one.family in (socket.AF_INET, socket.AF_INET6):
                assert ipaddress.ip_address(one.address.partition("%")[0]) in own
    assert ipaddress.ip_address("127.0.0.1") in own


async def test_a_name_that_leads_to_an_own_public_address_is_refused() -> None:
    """The address of this test is public to the guard, and this machine's."""

    async def resolver(host: str, port: int) -> list[str]:
        return [str(PUBLIC)]

    fetcher = Fetcher(resolver=resolver, own=lambda: OWN)
    with pytest.raises(PenstockError) as error:
        await fetcher.fetch(FetchRequest("http://shop.example/goods.csv"))
    assert error.value.code == "URL_NOT_ALLOWED"
    with pytest.raises(PenstockError):
        await fetcher.check(f"http://{PUBLIC}:8600/metrics")
    await fetcher.close()
