"""Attachments in a mailbox, read only. Mails stay as they are, and are not marked as read."""

from __future__ import annotations

import asyncio
import binascii
import imaplib
import math
import quopri
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from penstock.guards.connect import ServerAddress, VettedConnector, parse_server_address
from penstock.model.places.names import check_name
from penstock.model.places.ports import Listing, PlaceAddress, PlaceFile, PlaceLimits
from penstock.places.credentials import check_credentials
from penstock.places.errors import (
    bad_address,
    no_folder,
    not_found,
    refusal,
    refused_sign_in,
    unreachable,
)
from penstock.places.imap_structure import Attachment, attachments_of, parse_answers
from penstock.places.tls import tls_context

PORTS = {"imaps": 993, "imap": 143}
IMAP_PORTS = frozenset(PORTS.values())
# The newest mails that a listing looks at, and how many it asks for at once.
_MAX_MAILS = 1000
_MAILS_AT_ONCE = 100
_MAX_STRUCTURE_BYTES = 4 * 1024 * 1024
_PIECE_BYTES = 1024 * 1024


class ImapPlaces:
    def __init__(self, connector: VettedConnector) -> None:
        self._connector = connector

    async def check(self, address: PlaceAddress) -> str:
        check_credentials(address.credentials, ("user", "password"), ("certificate",))
        tls_context(address)
        server = parse_server_address(address.address, PORTS)
        _mailbox(server)
        await self._connector.check(server.host, server.port)
        return address.address.strip()

    @asynccontextmanager
    async def open(self, address: PlaceAddress, limits: PlaceLimits) -> AsyncIterator[ImapPlace]:
        server = parse_server_address(address.address, PORTS)
        sock = await self._connector.connect(server.host, server.port, limits.wait_seconds)
        sock.settimeout(limits.wait_seconds)
        try:
            with _named_errors():
                client, validity = await asyncio.to_thread(_sign_in, sock, server, address)
        except BaseException:
            sock.close()
            raise
        try:
            yield ImapPlace(client, validity, limits)
        finally:
            await asyncio.to_thread(client.shutdown)


class _Client(imaplib.IMAP4):
    """Uses a connected socket, and reads no more at once than was asked for."""

    def __init__(self, sock: socket.socket, server: ServerAddress) -> None:
        self._given = sock
        self.max_bytes = _MAX_STRUCTURE_BYTES
        super().__init__(server.host, server.port)

    def _create_socket(self, timeout: float | None = None) -> socket.socket:
        return self._given

    def read(self, size: int) -> bytes:
        if size > self.max_bytes:
            raise refusal("The server sends more than was asked for.")
        return super().read(size)


def _sign_in(
    sock: socket.socket, server: ServerAddress, address: PlaceAddress
) -> tuple[_Client, str]:
    context = tls_context(address)
    if server.scheme == "imaps":
        sock = context.wrap_socket(sock, server_hostname=server.host)
    client = _Client(sock, server)
    if server.scheme == "imap" and "STARTTLS" in client.capabilities:
        client.starttls(context)
    try:
        client.login(address.credentials["user"], address.credentials["password"])
    except imaplib.IMAP4.error as error:
        raise refused_sign_in() from error
    quoted = _mailbox(server).replace("\\", "\\\\").replace('"', '\\"')
    kind, _ = client.select(f'"{quoted}"', readonly=True)
    if kind != "OK":
        raise no_folder(_mailbox(server))
    _, told = client.response("UIDVALIDITY")
    return client, (told[0] or b"0").decode("ascii", "replace") if told else "0"


def _mailbox(server: ServerAddress) -> str:
    name = server.path.strip("/") or "INBOX"
    if not name.isascii() or not name.isprintable():
        raise bad_address("the name of the mailbox must be ASCII.")
    return name


class ImapPlace:
    """Its methods run in threads, one at a time."""

    host_key: str | None = None

    def __init__(self, client: _Client, validity: str, limits: PlaceLimits) -> None:
        self._client = client
        self._validity = validity
        self._limits = limits
        self._listed: dict[str, tuple[PlaceFile, int, Attachment]] = {}

    async def list(self, depth: int = 0) -> Listing:
        with _named_errors():
            return await asyncio.to_thread(self._list)

    def _list(self) -> Listing:
        files: list[PlaceFile] = []
        bad: list[tuple[str, str]] = []
        found = self._command("SEARCH", "UNDELETED")
        numbers = [int(one) for part in found for one in _bytes(part).split() if one.isdigit()]
        newest = sorted(numbers)[-_MAX_MAILS:]
        for at in range(0, len(newest), _MAILS_AT_ONCE):
            wanted = ",".join(map(str, newest[at : at + _MAILS_AT_ONCE]))
            answers = self._command("FETCH", wanted, "(UID INTERNALDATE BODYSTRUCTURE)")
            for mail in parse_answers(answers):
                for one in attachments_of(mail.get("BODYSTRUCTURE")):
                    file = self._file(int(str(mail.get("UID", "0"))), mail, one)
                    why = check_name(file.name)
                    if why is not None:
                        bad.append((file.name, why))
                    elif len(files) >= self._limits.entries:
                        return Listing(files, bad, cut=True)
                    else:
                        files.append(file)
        return Listing(files, bad, cut=len(numbers) > _MAX_MAILS)

    def _file(self, uid: int, mail: dict[str, Any], found: Attachment) -> PlaceFile:
        """Mails may have attachments of the same name, so the name contains mail and part."""
        stem, dot, suffix = found.name.rpartition(".")
        numbered = f"{stem or found.name} [{uid}.{found.part}]" + (f"{dot}{suffix}" if stem else "")
        version = f"{self._validity}-{uid}-{found.part}"
        file = PlaceFile(numbered, found.size, version, _moment(mail), math.inf)
        self._listed[numbered] = (file, uid, found)
        return file

    async def find(self, name: str) -> PlaceFile | None:
        known = self._listed.get(name)
        if known is None:
            return None
        file, uid, _ = known
        with _named_errors():
            answers = await asyncio.to_thread(self._command, "FETCH", str(uid), "(UID)")
        return file if parse_answers(answers) else None

    async def read(self, file: PlaceFile) -> AsyncGenerator[bytes, None]:
        known = self._listed.get(file.name)
        if known is None:
            raise not_found(file.name)
        _, uid, found = known
        with _named_errors():
            content = await asyncio.to_thread(self._content, file.name, uid, found)
        for at in range(0, len(content), _PIECE_BYTES):
            yield content[at : at + _PIECE_BYTES]

    def _content(self, name: str, uid: int, found: Attachment) -> bytes:
        self._client.max_bytes = found.encoded_size * 2 + _MAX_STRUCTURE_BYTES
        answers = self._command("FETCH", str(uid), f"(BODY.PEEK[{found.part}])")
        raw = next((bytes(one[1]) for one in answers if isinstance(one, tuple)), None)
        if raw is None:
            raise not_found(name)
        match found.encoding:
            case "base64":
                try:
                    return binascii.a2b_base64(raw)
                except binascii.Error as error:
                    raise refusal(f"{name} is not encoded correctly.") from error
            case "quoted-printable":
                return quopri.decodestring(raw)
            case _:
                return raw

    def _command(self, command: str, *args: str) -> Sequence[Any]:
        kind, found = self._client.uid(command, *args)
        if kind != "OK":
            raise refusal("The server refused to list or read mails.")
        return [one for one in found if one is not None]

    async def put(self, name: str, chunks: AsyncIterator[bytes]) -> int:
        raise _read_only()

    async def move(self, file: PlaceFile, name: str) -> str:
        raise _read_only()

    async def delete(self, file: PlaceFile) -> None:
        raise _read_only()


def _read_only() -> Exception:
    return refusal("Mailboxes are only read.")


def _bytes(part: Any) -> bytes:
    return bytes(part) if isinstance(part, bytes | bytearray) else b""


def _moment(mail: dict[str, Any]) -> datetime | None:
    """`17-Jul-1996 02:44:25 -0700`."""
    told = str(mail.get("INTERNALDATE") or "").strip().replace("-", " ", 2)
    try:
        return parsedate_to_datetime(told).astimezone(UTC)
    except (ValueError, TypeError):
        return None


@contextmanager
def _named_errors() -> Iterator[None]:
    try:
        yield
    except ssl.SSLCertVerificationError as error:
        raise refusal(f"The server's certificate is not valid: {error.verify_message}") from error
    except (imaplib.IMAP4.error, OSError, EOFError, UnicodeError, ValueError) as error:
        raise unreachable((str(error) or type(error).__name__)[:200]) from error
