"""The safe fetch: nothing private is ever connected to, and nothing takes more than it may."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
import re
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from tests.guards.servers import Handle, answering, serving
from tests.guards.ssrf_urls import hostile_urls

from penstock.guards.fetch import Fetcher, Resolve
from penstock.model.errors import PenstockError
from penstock.model.network.addresses import is_public, parse_exempt, refusal_reason
from penstock.model.network.fetching import FetchLimits, FetchRequest, FetchResponse

LOCAL = parse_exempt("127.0.0.0/8")
_HAS_HOST = re.compile(r"[a-z]+://[^/?#]", re.IGNORECASE)
SMALL = FetchLimits(most_bytes=100_000, total_ms=3000, silent_ms=2000)


def names(**addresses: Sequence[str]) -> Resolve:
    """A resolver that knows these names."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses.get(host.partition(".")[0], [host])

    return resolve


@pytest.fixture
async def local() -> AsyncIterator[Fetcher]:
    """One that may talk to this machine."""
    fetcher = Fetcher(LOCAL)
    yield fetcher
    await fetcher.close()


async def code_of(fetcher: Fetcher, request: FetchRequest) -> str:
    with pytest.raises(PenstockError) as caught:
        await fetcher.fetch(request)
    return caught.value.code


async def test_no_hostile_url_reaches_the_canary() -> None:
    async with serving(answering()) as canary:
        fetcher = Fetcher()
        urls = list(hostile_urls(canary.port))
        assert len(set(urls)) >= 300
        for url in urls:
            assert await code_of(fetcher, FetchRequest(url, limits=SMALL)) == "URL_NOT_ALLOWED", url
            with pytest.raises(PenstockError):
                await fetcher.check(url)
        await fetcher.close()
        assert canary.connections == 0


async def test_redirects_to_hostile_urls_reach_no_canary() -> None:
    async with serving(answering()) as canary:
        # Without a host it would be a path on the server that redirects.
        every = hostile_urls(canary.port)
        urls = [url for url in every if url.isprintable() and _HAS_HOST.match(url)]
        targets = iter(urls)

        async def redirect(request: bytes, writer: asyncio.StreamWriter) -> None:
            head = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: "
            writer.write(head + next(targets).encode() + b"\r\n\r\n")
            await writer.drain()

        async with serving(redirect) as front:
            # The front alone is exempt, by its port; where it leads to is not.
            fetcher = Fetcher(parse_exempt(f"127.0.0.1:{front.port}"))
            request = FetchRequest(f"http://127.0.0.1:{front.port}/", limits=SMALL)
            for url in urls:
                assert await code_of(fetcher, request) == "URL_NOT_ALLOWED", url
            await fetcher.close()
        assert (front.connections, canary.connections) == (len(urls), 0)


async def test_a_name_is_refused_if_any_of_its_addresses_is_private() -> None:
    async with serving(answering()) as canary:
        resolver = names(mixed=["93.184.216.34", "127.0.0.1"], inside=["10.0.0.7"], none=[])
        fetcher = Fetcher(resolver=resolver)
        for host in ("mixed", "inside"):
            url = f"http://{host}.example:{canary.port}/"
            assert await code_of(fetcher, FetchRequest(url)) == "URL_NOT_ALLOWED"
        assert await code_of(fetcher, FetchRequest("http://none.example/")) == "NETWORK_ERROR"
        await fetcher.check("http://none.example/")
        assert canary.connections == 0


async def test_rebinding_finds_the_address_it_was_vetted_with() -> None:
    """The second answer of the resolver is this machine: nobody asks a second time."""
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["192.0.2.1"] if len(asked) > 1 else ["127.0.0.9"]

    async with serving(answering()) as canary:
        exempt = parse_exempt("127.0.0.9")
        fetcher = Fetcher(exempt, resolver=rebinding)
        # Nothing listens there; and it goes nowhere else, nor is the name looked up again for it.
        url = f"http://rebind.example:{canary.port}/"
        assert await code_of(fetcher, FetchRequest(url, limits=SMALL)) == "NETWORK_ERROR"
        assert (asked, canary.connections) == (["rebind.example"], 0)
        # The next connection is vetted anew, and refused.
        assert await code_of(fetcher, FetchRequest(url, limits=SMALL)) == "URL_NOT_ALLOWED"
        assert canary.connections == 0


async def test_host_and_path_arrive_as_written(local: Fetcher) -> None:
    async with serving(answering(headers="X-A: b\r\n")) as seen:
        url = f"http://127.0.0.1:{seen.port}/pä th?q=1&r=%20".replace(" ", "%20")
        got = await local.fetch(FetchRequest(url, "POST", {"X-Own": "1"}, b"hello", SMALL))
    assert (got.status, got.body, got.header("X-A")) == (200, b"ok", "b")
    request = seen.requests[0]
    assert request.startswith(b"POST /p%C3%A4%20th?q=1&r=%20 HTTP/1.1\r\n")
    assert f"\r\nHost: 127.0.0.1:{seen.port}\r\n".encode() in request
    assert request.endswith(b"\r\n\r\nhello")


async def test_a_vetted_address_is_asked_by_its_name(tmp_path: Path) -> None:
    """Over TLS too: the name is sent and the certificate is held to it, though the connection goes
    to an address."""
    server, trusted = certified(tmp_path, "hooks.example")
    asked: list[str | None] = []
    server.sni_callback = lambda _, name, __: asked.append(name)
    async with serving(answering(), server) as seen:
        fetcher = Fetcher(LOCAL, resolver=names(hooks=["127.0.0.1"], other=["127.0.0.1"]),
                          tls=trusted)  # fmt: skip
        got = await fetcher.fetch(FetchRequest(f"https://hooks.example:{seen.port}/", limits=SMALL))
        assert (got.status, asked) == (200, ["hooks.example"])
        assert f"Host: hooks.example:{seen.port}".encode() in seen.requests[0]
        wrong = FetchRequest(f"https://other.example:{seen.port}/", limits=SMALL)
        assert await code_of(fetcher, wrong) == "NETWORK_ERROR"
        await fetcher.close()
    assert len(seen.requests) == 1


def certified(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A server of that name, and who trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, private = folder / "cert.pem", folder / "key.pem"
    pem.write_bytes(made.public_bytes(Encoding.PEM))
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(pem, private)
    return server, ssl.create_default_context(cafile=str(pem))


async def test_three_hops_are_followed_and_no_more() -> None:
    async def handle(request: bytes, writer: asyncio.StreamWriter) -> None:
        left = int(request.split(b" ")[1].strip(b"/"))
        answer = answering("302 Found", f"Location: /{left - 1}\r\n") if left else answering()
        await answer(request, writer)

    async with serving(handle) as seen:
        fetcher = Fetcher(LOCAL)
        base = f"http://127.0.0.1:{seen.port}"
        got = await fetcher.fetch(FetchRequest(f"{base}/3", limits=SMALL))
        assert (got.status, got.url) == (200, f"{base}/0")
        assert await code_of(fetcher, FetchRequest(f"{base}/6", limits=SMALL)) == "URL_NOT_ALLOWED"
        alone = FetchLimits(hops=0)
        assert (await fetcher.fetch(FetchRequest(f"{base}/3", limits=alone))).status == 302
        await fetcher.close()


async def test_credentials_stay_with_the_server_they_are_for() -> None:
    async with serving(answering()) as second:
        location = f"Location: http://127.0.0.1:{second.port}/\r\n"
        async with serving(answering("307 Temporary Redirect", location)) as first:
            fetcher = Fetcher(LOCAL)
            headers = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Kept": "1"}
            url = f"http://127.0.0.1:{first.port}/"
            await fetcher.fetch(FetchRequest(url, "POST", headers, b"body", SMALL))
            await fetcher.close()
    assert b"Bearer x" in first.requests[0]
    assert b"Bearer x" not in second.requests[0]
    assert b"a=b" not in second.requests[0]
    assert b"X-Kept: 1" in second.requests[0]
    assert second.requests[0].endswith(b"body")


def packed_zeros(size: int, wbits: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    pieces = [packer.compress(bytes(1024 * 1024)) for _ in range(size)]
    return b"".join([*pieces, packer.flush()])


@pytest.mark.parametrize(("encoding", "wbits"), [("gzip", 31), ("deflate", 15), ("deflate", -15)])
async def test_a_bomb_is_stopped_at_the_bound(local: Fetcher, encoding: str, wbits: int) -> None:
    bomb = packed_zeros(40, wbits)
    async with serving(answering(headers=f"Content-Encoding: {encoding}\r\n", body=bomb)) as seen:
        request = FetchRequest(f"http://127.0.0.1:{seen.port}/", limits=SMALL)
        assert await code_of(local, request) == "FETCH_TOO_LARGE"


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_packed_answers_are_unpacked(local: Fetcher, encoding: str) -> None:
    text = b"plain text " * 1000
    body = gzip.compress(text) if encoding == "gzip" else zlib.compress(text)
    async with serving(answering(headers=f"Content-Encoding: {encoding}\r\n", body=body)) as seen:
        request = FetchRequest(f"http://127.0.0.1:{seen.port}/", limits=SMALL)
        assert (await local.fetch(request)).body == text


@pytest.mark.parametrize("encoding", ["br", "gzip, gzip", "zstd"])
async def test_what_cannot_be_bounded_is_not_unpacked(local: Fetcher, encoding: str) -> None:
    handle = answering(headers=f"Content-Encoding: {encoding}\r\n", body=b"\x1f\x8b")
    async with serving(handle) as seen:
        request = FetchRequest(f"http://127.0.0.1:{seen.port}/", limits=SMALL)
        assert await code_of(local, request) == "UNSUPPORTED_TYPE"
    assert b"Accept-Encoding: gzip, deflate\r\n" in seen.requests[0]


async def endless(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(bytes(10_000))
        await writer.drain()


async def drip(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def silence(request: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(30)


async def slow_headers(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X-A: b\r\n")
        await writer.drain()
        await asyncio.sleep(0.05)


async def hang_up(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")


async def nonsense(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"220 mail.example ESMTP\r\n")


@pytest.mark.parametrize(
    ("handle", "code"),
    [
        (endless, "FETCH_TOO_LARGE"),
        (drip, "FETCH_TIMEOUT"),
        (silence, "FETCH_TIMEOUT"),
        (slow_headers, "FETCH_TIMEOUT"),
        (hang_up, "NETWORK_ERROR"),
        (nonsense, "NETWORK_ERROR"),
    ],
)
async def test_bad_servers_have_a_name_and_an_end(handle: Handle, code: str) -> None:
    fetcher = Fetcher(LOCAL)
    async with serving(handle) as seen:
        limits = FetchLimits(most_bytes=50_000, total_ms=400, silent_ms=300)
        began = time.monotonic()
        got = await code_of(fetcher, FetchRequest(f"http://127.0.0.1:{seen.port}/", limits=limits))
        assert (got, time.monotonic() - began < 15) == (code, True)
    await fetcher.close()


async def test_a_head_is_enough_where_only_a_head_is_wanted(local: Fetcher) -> None:
    async with serving(endless) as seen:
        limits = FetchLimits(most_bytes=500, total_ms=2000, head_only=True)
        got = await local.fetch(FetchRequest(f"http://127.0.0.1:{seen.port}/", limits=limits))
    assert len(got.body) == 500


async def test_nobody_there(local: Fetcher) -> None:
    async with serving(answering()) as seen:
        pass
    request = FetchRequest(f"http://127.0.0.1:{seen.port}/", limits=SMALL)
    assert await code_of(local, request) == "NETWORK_ERROR"


def test_exemptions_are_as_narrow_as_they_say() -> None:
    exempt = parse_exempt("hooks.internal, 10.1.0.0/16, 127.0.0.1:8080, [::1]:8443, fd00::/8")

    def may(host: str, address: str, port: int) -> bool:
        return refusal_reason(exempt, host, ipaddress.ip_address(address), port) is None

    assert may("hooks.internal", "192.168.1.1", 22)
    assert may("any.example", "10.1.2.3", 80)
    assert may("any.example", "127.0.0.1", 8080)
    assert may("::1", "::1", 8443)
    assert may("x", "fd00::1", 80)
    assert not may("x.hooks.internal", "192.168.1.1", 80)
    assert not may("any.example", "10.2.0.1", 80)
    assert not may("any.example", "127.0.0.1", 8081)
    assert not may("any.example", "127.0.0.2", 8080)
    for wrong in ("10.0.0.1/8", "a b", "host:99999", "1.2.3", "http://x"):
        with pytest.raises(ValueError, match=r"neither a host|no port"):
            parse_exempt(wrong)


@pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.0",
                                     "172.15.255.255", "172.32.0.0", "2606:4700::1111",
                                     "2a00:1450:4001::1", "168.63.129.17"])  # fmt: skip
def test_the_public_internet_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


def test_retry_after_is_read_in_both_spellings() -> None:
    def told(**headers: str) -> int | None:
        pairs = [(name.replace("_", "-"), value) for name, value in headers.items()]
        return FetchResponse(429, pairs, b"", "http://x/", 1).retry_after_ms

    assert told(retry_after="7") == 7000
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    assert told(retry_after="Wed, 21 Oct 2026 07:28:09 GMT", date=date) == 9000
    assert told(retry_after="Wed, 21 Oct 2026 07:27:00 GMT", date=date) == 0
    assert told(retry_after="soon") is None
    assert told() is None
