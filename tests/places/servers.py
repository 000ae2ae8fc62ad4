"""Real servers of S3, FTP and SFTP on loopback, each with one folder or bucket."""

from __future__ import annotations

import ipaddress
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import asyncssh
import httpx2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from moto.server import ThreadedMotoServer
from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler, TLS_FTPHandler
from pyftpdlib.servers import FTPServer

from penstock.guards.connect import VettedConnector
from penstock.guards.fetch import Fetcher
from penstock.model.network.addresses import parse_exempt
from penstock.model.places.ports import PlaceAddress, PlaceKind
from penstock.places.folder import FolderPlaces
from penstock.places.ftp import FTP_PORTS, FtpPlaces
from penstock.places.imap import IMAP_PORTS, ImapPlaces
from penstock.places.registry import AllPlaces
from penstock.places.s3 import S3Places
from penstock.places.sftp import SFTP_PORTS, SftpPlaces

LOOPBACK = parse_exempt("127.0.0.1")
USER = {"user": "anna", "password": "correct horse"}
KEYS = {"accessKeyId": "test", "secretAccessKey": "testtesttesttest"}


def all_places(*roots: Path, allow: str = "127.0.0.1") -> AllPlaces:
    exempt = parse_exempt(allow)
    return AllPlaces(
        {
            PlaceKind.FOLDER: FolderPlaces([str(root) for root in roots]),
            PlaceKind.S3: S3Places(Fetcher(exempt)),
            PlaceKind.FTP: FtpPlaces(VettedConnector(exempt, FTP_PORTS)),
            PlaceKind.IMAP: ImapPlaces(VettedConnector(exempt, IMAP_PORTS)),
            PlaceKind.SFTP: SftpPlaces(VettedConnector(exempt, SFTP_PORTS)),
        }
    )


@contextmanager
def s3_server(port: int = 0) -> Iterator[str]:
    """The endpoint."""
    server = ThreadedMotoServer("127.0.0.1", port, verbose=False)
    server.start()
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    # Servers of one process share their buckets.
    httpx2.post(f"{endpoint}/moto-api/reset").raise_for_status()
    try:
        yield endpoint
    finally:
        server.stop()


class OldFtpHandler(FTPHandler):  # type: ignore[misc]
    """A server that has neither MLSD nor MLST."""

    proto_cmds: ClassVar[dict[str, Any]] = {
        name: value for name, value in FTPHandler.proto_cmds.items() if not name.startswith("MLS")
    }


@contextmanager
def ftp_server(
    folder: Path, certificate: Path | None = None, handler: type[FTPHandler] | None = None
) -> Iterator[int]:
    """The port."""
    authorizer = DummyAuthorizer()
    authorizer.add_user(USER["user"], USER["password"], str(folder), perm="elradfmwMT")
    kind: Any = type("Handler", (handler or (TLS_FTPHandler if certificate else FTPHandler),), {})
    kind.authorizer = authorizer
    if certificate is not None:
        kind.certfile = str(certificate)
        kind.tls_control_required = kind.tls_data_required = True
    server = FTPServer(("127.0.0.1", 0), kind)
    serving = threading.Thread(target=server.serve_forever, kwargs={"timeout": 0.05}, daemon=True)
    serving.start()
    try:
        yield int(server.address[1])
    finally:
        server.close_all()


@dataclass
class _Users(asyncssh.SSHServer):
    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return {"user": username, "password": password} == USER


@asynccontextmanager
async def sftp_server(folder: Path, key: asyncssh.SSHKey | None = None) -> AsyncIterator[int]:
    """The port."""
    server = await asyncssh.create_server(
        _Users, "127.0.0.1", 0,
        server_host_keys=[key or asyncssh.generate_private_key("ssh-ed25519")],
        sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=os.fsencode(folder)),
    )  # fmt: skip
    try:
        yield server.get_port()
    finally:
        server.close()
        await server.wait_closed()


def make_certificate(path: Path) -> str:
    """A certificate for 127.0.0.1 with its key in ``path``; returns the certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    text = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(text + secret)
    return text.decode()


def place(kind: PlaceKind, address: str, **credentials: str) -> PlaceAddress:
    return PlaceAddress(kind, address, "acme", credentials)
