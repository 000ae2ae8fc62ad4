"""Attachments of a mailbox, by a real IMAP server, and answers that lead a parser astray."""

from __future__ import annotations

import imaplib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from email.message import EmailMessage
from pathlib import Path

import pytest
from tests.places.servers import all_places, place

from penstock.model.errors import NotAllowed, NotThere, PermanentError
from penstock.model.places.names import matches
from penstock.model.places.ports import PlaceKind
from penstock.places.imap_structure import attachments_of, parse_answers

USER = {"user": "demouser", "password": "demopass"}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
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
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with suppress(OSError), closing(socket.create_connection(("127.0.0.1", port), 1)):
                break
            time.sleep(0.05)
        yield port
        server.kill()


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
