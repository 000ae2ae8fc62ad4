"""A folder of an FTP server, plain or with TLS. Data connections go to the vetted address of the
control connection, whatever address the server names."""

from __future__ import annotations

import asyncio
import contextlib
import ftplib
import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import uuid4

from penstock.guards.connect import ServerAddress, VettedConnector, parse_server_address
from penstock.model.network.addresses import is_web_port
from penstock.model.places.names import DONE_FOLDER, check_name, numbered_names
from penstock.model.places.ports import Listing, PlaceAddress, PlaceFile, PlaceLimits
from penstock.places.credentials import check_credentials
from penstock.places.errors import (
    ended_early,
    no_folder,
    not_found,
    refusal,
    refused_sign_in,
    unreachable,
)
from penstock.places.tls import tls_context

PORTS = {"ftp": 21, "ftps": 21}
_IMPLICIT_TLS = 990
FTP_PORTS = frozenset({21, _IMPLICIT_TLS})
_PIECE_BYTES = 256 * 1024
_MAX_LINE = 4096
T = TypeVar("T")


class FtpPlaces:
    def __init__(self, connector: VettedConnector) -> None:
        self._connector = connector

    async def check(self, address: PlaceAddress) -> str:
        check_credentials(address.credentials, (), ("user", "password", "certificate"))
        tls_context(address)
        server = parse_server_address(address.address, PORTS)
        await self._connector.check(server.host, server.port)
        return address.address.strip()

    @asynccontextmanager
    async def open(self, address: PlaceAddress, limits: PlaceLimits) -> AsyncIterator[FtpPlace]:
        server = parse_server_address(address.address, PORTS)
        sock = await self._connector.connect(server.host, server.port, limits.wait_seconds)
        sock.settimeout(limits.wait_seconds)
        try:
            with _named_errors("the server"):
                client = await asyncio.to_thread(_sign_in, sock, server, address, limits)
        except BaseException:
            sock.close()
            raise
        try:
            yield FtpPlace(client, server.path, limits)
        finally:
            await asyncio.to_thread(_close, client)


class _Client(ftplib.FTP_TLS):
    """Uses a connected socket. Of an address for data in a reply only the port is used,
    and only if it is not the port of another service."""

    trust_server_pasv_ipv4_address = False

    def __init__(self, sock: socket.socket, server: ServerAddress, tls: ssl.SSLContext) -> None:
        super().__init__(context=tls, timeout=sock.gettimeout(), encoding="utf-8")
        self._secure = server.scheme == "ftps"
        self.host, self.port = server.host, server.port
        self.af = sock.family
        self.sock: Any = sock
        if self._secure and server.port == _IMPLICIT_TLS:
            self.sock = self.context.wrap_socket(sock, server_hostname=server.host)
        self.file = self.sock.makefile("r", encoding=self.encoding, errors="surrogateescape")
        self.welcome = self.getresp()

    def sign_in(self, user: str, password: str) -> None:
        if self._secure and not isinstance(self.sock, ssl.SSLSocket):
            self.auth()
        # Signs in without asking for TLS again, which `FTP_TLS.login` would.
        ftplib.FTP.login(self, user, password)  # noqa: S321
        if self._secure:
            self.prot_p()

    def makepasv(self) -> tuple[str, int]:
        _, port = super().makepasv()
        if not is_web_port(port):
            raise refusal(f"The server offers data at port {port}, which is not allowed.")
        return str(self.sock.getpeername()[0]), port

    def ntransfercmd(self, cmd: str, rest: Any = None) -> tuple[socket.socket, int | None]:
        conn, size = ftplib.FTP.ntransfercmd(self, cmd, rest)  # noqa: S321
        if self._secure:
            # Servers ask for the session of the control connection, as a proof of identity.
            conn = self.context.wrap_socket(
                conn, server_hostname=self.host, session=self.sock.session
            )
        return conn, size


def _sign_in(
    sock: socket.socket, server: ServerAddress, address: PlaceAddress, limits: PlaceLimits
) -> _Client:
    client = _Client(sock, server, tls_context(address))
    given = address.credentials
    try:
        client.sign_in(given.get("user") or "anonymous", given.get("password") or "")
    except ftplib.error_perm as error:
        if str(error).startswith("530"):
            raise refused_sign_in() from error
        raise
    client.voidcmd("TYPE I")
    return client


def _close(client: _Client) -> None:
    # A polite QUIT could hang.
    with suppress(Exception):
        client.close()


class FtpPlace:
    """Its methods run in threads, one at a time."""

    host_key: str | None = None

    def __init__(self, client: _Client, base: str, limits: PlaceLimits) -> None:
        self._client = client
        self._base = base.strip("/")
        self._limits = limits
        self._lacks_mlsd = False

    def _path(self, name: str) -> str:
        parts = [part for part in (self._base, name.rstrip("/")) if part]
        return "/" + "/".join(parts)

    async def _run(self, name: str, function: Callable[..., T], *args: Any) -> T:
        with _named_errors(name):
            return await asyncio.to_thread(function, *args)

    async def list(self, depth: int = 0) -> Listing:
        return await self._run(self._path(""), self._list, depth)

    def _list(self, depth: int) -> Listing:
        files: list[PlaceFile] = []
        bad: list[tuple[str, str]] = []
        until = time.monotonic() + self._limits.list_seconds
        waiting = [("", depth)]
        while waiting:
            prefix, below = waiting.pop()
            for base, facts in self._entries(prefix, until):
                name = prefix + base
                if len(files) >= self._limits.entries or time.monotonic() > until:
                    return Listing(files, bad, cut=True)
                why = check_name(name)
                if why is not None:
                    bad.append((name, why))
                elif facts.get("type") == "dir":
                    if below and name != DONE_FOLDER:
                        waiting.append((f"{name}/", below - 1))
                elif facts.get("type", "file") == "file":
                    files.append(_file(name, facts))
                elif facts["type"] not in ("cdir", "pdir"):
                    bad.append((name, "it is no regular file"))
        return Listing(files, bad)

    def _entries(self, prefix: str, until: float) -> Iterator[tuple[str, dict[str, str]]]:
        """Entries of a folder; servers without MLSD are asked for size and time of each name."""
        folder = self._path(prefix)
        if not self._lacks_mlsd:
            try:
                yield from (_entry(line) for line in self._lines(f"MLSD {folder}", until))
                return
            except ftplib.error_perm as error:
                if not str(error).startswith(("500", "501", "502", "504")):
                    raise no_folder(folder) from error
                self._lacks_mlsd = True
        for line in list(self._lines(f"NLST {folder}", until)):
            base = line.rpartition("/")[2]
            facts = self._facts(prefix + base)
            yield base, facts if facts is not None else {"type": "dir"}

    def _lines(self, command: str, until: float) -> Iterator[str]:
        """At most as many as may be listed, so that no server fills the memory."""
        conn = self._client.transfercmd(command)
        left = self._limits.entries * 2
        try:
            with contextlib.closing(conn), conn.makefile("rb") as lines:
                while line := lines.readline(_MAX_LINE):
                    left -= 1
                    if left < 0 or len(line) >= _MAX_LINE or time.monotonic() > until:
                        raise refusal("The folder has more entries than can be listed.")
                    yield line.decode("utf-8", "surrogateescape").rstrip("\r\n")
        finally:
            self._end_transfer()

    def _end_transfer(self) -> None:
        """Read the reply that ends a transfer, also of one that was broken off."""
        with suppress(ftplib.Error, OSError, EOFError):
            self._client.voidresp()

    def _facts(self, name: str) -> dict[str, str] | None:
        """Size and time of one file; None if it is none."""
        path, facts = self._path(name), {"type": "file"}
        try:
            size = self._client.size(path)
        except ftplib.error_perm:
            return None
        if size is None:
            return None
        facts["size"] = str(size)
        with suppress(ftplib.error_perm):
            facts["modify"] = self._client.sendcmd(f"MDTM {path}")[3:].strip()
        return facts

    async def find(self, name: str) -> PlaceFile | None:
        facts = await self._run(name, self._facts, name)
        return None if facts is None else _file(name, facts)

    async def read(self, file: PlaceFile) -> AsyncGenerator[bytes, None]:
        path = self._path(file.name)
        conn = await self._run(file.name, self._client.transfercmd, f"RETR {path}")
        size, complete = 0, False
        try:
            while piece := await self._run(file.name, conn.recv, _PIECE_BYTES):
                size += len(piece)
                yield piece
            complete = True
        finally:
            conn.close()
            if not complete:
                await asyncio.to_thread(self._end_transfer)
        await self._run(file.name, self._client.voidresp)
        if size < file.size:
            raise ended_early(file.name)

    async def put(self, name: str, chunks: AsyncIterator[bytes]) -> int:
        folder, slash, _ = name.rpartition("/")
        temporary = self._path(f"{folder}{slash}.{uuid4().hex}.part")
        await self._run(name, self._make_folders, folder)
        try:
            written = await self._upload(name, temporary, chunks)
            await self._run(name, self._replace, temporary, self._path(name))
        except BaseException:
            await asyncio.shield(asyncio.to_thread(self._discard, temporary))
            raise
        return written

    async def _upload(self, name: str, path: str, chunks: AsyncIterator[bytes]) -> int:
        conn = await self._run(name, self._client.transfercmd, f"STOR {path}")
        written, complete = 0, False
        try:
            async for chunk in chunks:
                written += len(chunk)
                await self._run(name, conn.sendall, chunk)
            if isinstance(conn, ssl.SSLSocket):
                # Without it the server takes the end of the file for a broken connection. Its reply
                # says whether the file is complete.
                with suppress(OSError):
                    await asyncio.to_thread(conn.unwrap)
            complete = True
        finally:
            conn.close()
            if not complete:
                await asyncio.shield(asyncio.to_thread(self._end_transfer))
        await self._run(name, self._client.voidresp)
        return written

    def _discard(self, path: str) -> None:
        """Delete a partial file, if the server still answers."""
        with suppress(ftplib.Error, OSError, EOFError):
            self._client.delete(path)

    def _replace(self, old: str, new: str) -> None:
        try:
            self._client.rename(old, new)
        except ftplib.error_perm:
            with suppress(ftplib.error_perm):
                self._client.delete(new)
            self._client.rename(old, new)

    async def move(self, file: PlaceFile, name: str) -> str:
        await self._require_version(file)
        await self._run(name, self._make_folders, name.rpartition("/")[0])
        for free in numbered_names(name):
            if await self.find(free) is None:
                old, new = self._path(file.name), self._path(free)
                await self._run(file.name, self._client.rename, old, new)
                return free
        raise refusal(f"There are too many files named {name}.")

    async def delete(self, file: PlaceFile) -> None:
        if await self.find(file.name) is None:
            return
        await self._require_version(file)
        await self._run(file.name, self._client.delete, self._path(file.name))

    async def _require_version(self, file: PlaceFile) -> None:
        """Another file under the same name must not be moved or deleted unread."""
        found = await self.find(file.name)
        if found is None or found.version != file.version:
            raise not_found(file.name)

    def _make_folders(self, folder: str) -> None:
        made = ""
        for step in folder.split("/") if folder else ():
            made = f"{made}/{step}" if made else step
            with suppress(ftplib.error_perm):
                self._client.mkd(self._path(made))


def _entry(line: str) -> tuple[str, dict[str, str]]:
    """A line of MLSD: facts, a blank, the name."""
    facts, _, name = line.partition(" ")
    pairs = (fact.partition("=") for fact in facts.rstrip(";").split(";"))
    return name, {key.lower(): value.lower() for key, _, value in pairs}


def _file(name: str, facts: dict[str, str]) -> PlaceFile:
    size = int(facts["size"]) if facts.get("size", "").isdecimal() else 0
    # Some servers send fractions of a second in one answer and not in the other.
    modified = facts.get("modify", "").partition(".")[0]
    at = None
    with suppress(ValueError):
        at = datetime.strptime(modified, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return PlaceFile(name, size, f"{size}-{modified}"[:200], at)


@contextmanager
def _named_errors(name: str) -> Iterator[None]:
    try:
        yield
    except ftplib.error_perm as error:
        if str(error).startswith("550"):
            raise not_found(name) from error
        raise refusal(f"The server refused: {str(error)[:200]}") from error
    except ssl.SSLCertVerificationError as error:
        raise refusal(f"The server's certificate is not valid: {error.verify_message}") from error
    except (ftplib.Error, OSError, EOFError) as error:
        raise unreachable((str(error) or type(error).__name__)[:200]) from error
