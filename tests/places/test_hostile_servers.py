"""Servers that are not what they should be: private, renamed, lying about addresses, silent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from pyftpdlib.handlers import FTPHandler
from tests.places.servers import (
    KEYS,
    USER,
    all_places,
    ftp_server,
    place,
    s3_server,
    sftp_server,
)

from penstock.model.errors import BadInput, NotAllowed, PermanentError, Unavailable
from penstock.model.places.names import check_name, matches
from penstock.model.places.ports import PlaceKind, PlaceLimits
from penstock.places.s3_requests import records_of

SOON = PlaceLimits(wait_seconds=0.3, list_seconds=0.5)


@pytest.mark.parametrize(
    ("kind", "address"),
    [
        (PlaceKind.S3, "s3://goods/in?endpoint=http://127.0.0.1:9000"),
        (PlaceKind.S3, "s3://goods/in?endpoint=http://169.254.169.254"),
        (PlaceKind.FTP, "ftp://127.0.0.1/in"),
        (PlaceKind.FTP, "ftp://10.0.0.1/in"),
        (PlaceKind.FTP, "ftp://8.8.8.8:25/in"),
        (PlaceKind.FTP, "ftp://user@8.8.8.8/in"),
        (PlaceKind.SFTP, "sftp://localhost/in"),
        (PlaceKind.SFTP, "sftp://[::1]/in"),
        (PlaceKind.SFTP, "sftp://8.8.8.8:5432/in"),
        (PlaceKind.SFTP, "https://8.8.8.8/in"),
    ],
)
async def test_addresses_that_are_not_public(kind: PlaceKind, address: str, tmp_path: Path) -> None:
    places = all_places(tmp_path, allow="")
    wanted = place(kind, address, **(KEYS if kind is PlaceKind.S3 else USER))
    with pytest.raises(BadInput):
        await places.check(wanted)
    with pytest.raises(BadInput):
        async with places.open(wanted, SOON) as opened:
            await opened.list()


async def test_wrong_credentials(tmp_path: Path) -> None:
    places, wrong = all_places(tmp_path), USER | {"password": "wrong"}
    with ftp_server(tmp_path) as port, pytest.raises(NotAllowed) as refused:
        async with places.open(place(PlaceKind.FTP, f"ftp://127.0.0.1:{port}/", **wrong)):
            raise AssertionError("it must not open")
    assert refused.value.code == "PLACE_SIGN_IN_FAILED"
    async with sftp_server(tmp_path) as port:
        with pytest.raises(NotAllowed) as refused:
            async with places.open(place(PlaceKind.SFTP, f"sftp://127.0.0.1:{port}/", **wrong)):
                raise AssertionError("it must not open")
    assert refused.value.code == "PLACE_SIGN_IN_FAILED"


async def test_another_host_key_is_refused(tmp_path: Path) -> None:
    places, key = all_places(tmp_path), asyncssh.generate_private_key("ssh-ed25519")
    async with sftp_server(tmp_path, key) as port:
        address = place(PlaceKind.SFTP, f"sftp://127.0.0.1:{port}/", **USER)
        async with places.open(address) as opened:
            shown = opened.host_key
        assert shown is not None
        known = place(PlaceKind.SFTP, address.address, hostKey=shown, **USER)
        async with places.open(known) as opened:
            assert (await opened.list()).files == []
        other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
        with pytest.raises(PermanentError) as refused:
            async with places.open(place(PlaceKind.SFTP, address.address, hostKey=other, **USER)):
                raise AssertionError("it must not open")
    assert refused.value.code == "HOST_KEY_CHANGED"


async def test_data_goes_to_the_vetted_address_whatever_the_server_names(tmp_path: Path) -> None:
    class Elsewhere(FTPHandler):  # type: ignore[misc]
        masquerade_address = "10.1.2.3"

    (tmp_path / "goods.csv").write_bytes(b"sku\n")
    with ftp_server(tmp_path, handler=Elsewhere) as port:
        address = place(PlaceKind.FTP, f"ftp://127.0.0.1:{port}/", **USER)
        async with all_places(tmp_path).open(address, SOON) as opened:
            assert [one.name for one in (await opened.list()).files] == ["goods.csv"]


async def test_ports_of_other_services_are_refused(tmp_path: Path) -> None:
    class Lying(FTPHandler):  # type: ignore[misc]
        def respond(self, resp: str, *more: Any) -> None:
            if resp.startswith("227"):
                resp = "227 Entering passive mode (127,0,0,1,21,56)."
            super().respond(resp, *more)

    with ftp_server(tmp_path, handler=Lying) as port:
        address = place(PlaceKind.FTP, f"ftp://127.0.0.1:{port}/", **USER)
        with pytest.raises(PermanentError, match="5432"):
            async with all_places(tmp_path).open(address, SOON) as opened:
                await opened.list()


async def test_a_silent_server_is_given_up(tmp_path: Path) -> None:
    held = asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await held.wait()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    for kind, address in (
        (PlaceKind.FTP, f"ftp://127.0.0.1:{port}/"),
        (PlaceKind.SFTP, f"sftp://127.0.0.1:{port}/"),
        (PlaceKind.S3, f"s3://goods?endpoint=http://127.0.0.1:{port}"),
    ):
        credentials = KEYS if kind is PlaceKind.S3 else USER
        with pytest.raises(Unavailable):
            async with all_places(tmp_path).open(place(kind, address, **credentials), SOON) as one:
                await one.list()
    held.set()
    server.close()


async def test_names_of_objects_that_lead_elsewhere(tmp_path: Path) -> None:
    with s3_server() as endpoint:
        address = place(PlaceKind.S3, f"s3://goods/in?endpoint={endpoint}", **KEYS)
        async with all_places(tmp_path).open(address) as opened:
            requests = opened._requests  # type: ignore[attr-defined]
            await requests.send("PUT", "")
            for key in ("in/a.csv", "in//etc/passwd", "in/x/../../y", "out.csv"):
                await requests.send("PUT", key, body=b"x")
            listing = await opened.list(depth=8)
    assert [one.name for one in listing.files] == ["a.csv"]
    assert len(listing.refused) == 2


def test_xml_with_a_document_type_is_refused() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x><Contents>&b;</Contents></x>'
    with pytest.raises(PermanentError):
        records_of(bomb, "Contents", ("Key",))


def test_names_and_patterns() -> None:
    for bad in ("", "/etc", "a//b", "../x", "a/../b", ".", "a\nb", "a\\b", "a\0b", "x" * 501):
        assert check_name(bad) is not None
    assert check_name("ä/b c.csv") is None
    for pattern, name, expected in (
        ("*.csv", "A.CSV", True), ("*.csv", "in/a.csv", False), ("**/*.csv", "a.csv", True),
        ("**/*.csv", "x/y/a.csv", True), ("in/*/p?.csv", "in/x/p1.csv", True),
        ("in/**", "in/x/y", True), ("a*b*c", "aXXbYYc", True), ("a*b*c", "aXXbYY", False),
        ("*.csv, *.xlsx", "b.xlsx", True), ("[a].csv", "a.csv", False), ("**", "x/y", True),
    ):  # fmt: skip
        assert matches(pattern, name) is expected, (pattern, name)
    # Quadratic at most: a regular expression would take for ever.
    assert not matches("*a" * 100 + "b", "a" * 400)
