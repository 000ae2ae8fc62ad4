"""Attachments of a mailbox, by a real IMAP server, and answers that lead a parser astray."""

from __future__ import annotations

import asyncio
import imaplib
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, suppress
from email.message import EmailMessage
from pathlib import Path

import pytest
from tests.places.servers import all_places, make_certificate, place
from tests.ports import free_port

from penstock.model.errors import NotAllowed, NotThere, PermanentError
from penstock.model.places.names import matches
from penstock.model.places.ports import PlaceKind
from penstock.places.imap_structure import attachments_of, parse_answers

USER = {"user": "demouser", "password": "demopass"}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    port = free_port()
    command = [
        sys.executable,
        "-c",
        "from pymap.main import main; main()",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    with subprocess.Popen(
        [*command, "--no-tls", "dict", "--demo-data"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as server:  # fmt: skip
        deadline = time.monotonic() + 60
        while True:
            with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), 1)):
                break
            assert time.monotonic() < deadline, "no mail server"
            time.sleep(0.05)
        yield port
        server.kill()


@asynccontextmanager
async def behind_tls(port: int, certificate: Path) -> AsyncIterator[int]:
    """The port of a server that ends TLS before the mail server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while piece := await reader.read(65536):
                writer.write(piece)
                await writer.drain()
        writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, outer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(forward(reader, outer), forward(inner, writer))

    open_connections: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(serve(reader, writer))
        open_connections.add(task)

    server = await asyncio.start_server(begin, "127.0.0.1", 0, ssl=context)
    async with server:
        yield int(server.sockets[0].getsockname()[1])
        for task in open_connections:
            task.cancel()
        await asyncio.gather(*open_connections, return_exceptions=True)


async def test_a_mailbox_over_tls(port: int, tmp_path: Path) -> None:
    send(port, mail(("over-tls.csv", b"sku\n1\n")))
    trusted = make_certificate(tmp_path / "tls.pem")
    places = all_places(tmp_path)
    async with behind_tls(port, tmp_path / "tls.pem") as secure:
        address = f"imaps://127.0.0.1:{secure}/Sent"
        async with places.open(
            place(PlaceKind.IMAP, address, certificate=trusted, **USER)
        ) as there:
            [found] = [
                one for one in (await there.list()).files if matches("over-tls*.csv", one.name)
            ]
            assert b"".join([piece async for piece in there.read(found)]) == b"sku\n1\n"
        with pytest.raises(PermanentError) as refused:
            async with places.open(place(PlaceKind.IMAP, address, **USER)) as there:
                await there.list()
        assert "certificate" in refused.value.message


def mail(*attachments: tuple[str, bytes]) -> bytes:
    made = EmailMessage()
    made["From"], made["Subject"] = "supplier@example.com", "Prices"
    made.set_content("See the attachment.")
    for name, content in attachments:
        made.add_attachment(content, "application", "octet-stream", filename=name)
    return made.as_bytes()


def send(port: int, *mails: bytes) -> None:
    with imaplib.IMAP4("127.0.0.1", port) as client:
        client.login(USER["user"], USER["password"])
        for one in mails:
            kind, told = client.append("Sent", None, None, one)
            assert kind == "OK", told


async def test_attachments_are_read_and_mails_stay(port: int, tmp_path: Path) -> None:
    large = bytes(range(256)) * 8000
    send(
        port,
        mail(("prices.csv", b"sku,price\n1,2\n"), ("große Liste.xlsx", large)),
        mail(("prices.csv", b"sku,price\n1,3\n")),
        mail(("../../etc/passwd", b"x")),
    )
    places = all_places(tmp_path)
    address = place(PlaceKind.IMAP, f"imap://127.0.0.1:{port}/Sent", **USER)
    assert await places.check(address) == address.address
    for _ in range(2):
        async with places.open(address) as opened:
            listing = await opened.list()
            found = {one.name: one for one in listing.files}
            prices = [name for name in found if matches("prices*.csv", name)]
            assert len(prices) == 2
            assert all(one.appears_complete for one in found.values())
            read = {
                name: b"".join([piece async for piece in opened.read(found[name])])
                for name in found
            }
            assert sorted(read[name] for name in prices) == [
                b"sku,price\n1,2\n", b"sku,price\n1,3\n",
            ]  # fmt: skip
            [sheet] = [name for name in found if name.startswith("große Liste")]
            assert read[sheet] == large
            assert any("_etc_passwd" in name for name in found)
            assert (await opened.find(sheet)) == found[sheet]
            assert await opened.find("other.csv") is None
            with pytest.raises(PermanentError):
                await opened.delete(found[sheet])


async def test_wrong_password_and_mailbox(port: int, tmp_path: Path) -> None:
    places = all_places(tmp_path)
    wrong = place(PlaceKind.IMAP, f"imap://127.0.0.1:{port}/Sent", user="demouser", password="no")
    with pytest.raises(NotAllowed):
        async with places.open(wrong):
            raise AssertionError("it must not open")
    with pytest.raises(NotThere):
        async with places.open(place(PlaceKind.IMAP, f"imap://127.0.0.1:{port}/None", **USER)):
            raise AssertionError("it must not open")


def test_answers_with_literals_and_nonsense() -> None:
    answers = [
        (b'1 (UID 5 BODYSTRUCTURE (("text" "plain" NIL NIL NIL "7bit" 3 1)("application" "x"'
         b' ("name" {8}', b"a (1).cs"),
        b'v) NIL NIL "base64" 400 NIL ("attachment" ("filename" "b.csv"))) "mixed"))',
    ]  # fmt: skip
    [found] = parse_answers(answers)
    assert found["UID"] == "5"
    [file] = attachments_of(found["BODYSTRUCTURE"])
    assert (file.name, file.part, file.encoding, file.size) == ("b.csv", "2", "base64", 300)
    for nonsense in (b"", b")))", b'"', b'("', b"(((", b"1 (UID", b"\\", b'1 ("x\\'):
        for one in parse_answers([nonsense]):
            assert attachments_of(one.get("BODYSTRUCTURE")) == []
    with pytest.raises(PermanentError):
        parse_answers([b"(" * 10_000])
    name = ["application", "x", ["name*", "utf-8''caf%C3%A9.csv"], None, None, "7bit", "3"]
    assert attachments_of(name)[0].name == "café.csv"
    name[2] = ["name", "=?utf-8?b?Y2Fmw6kuY3N2?="]
    assert attachments_of(name)[0].name == "café.csv"
