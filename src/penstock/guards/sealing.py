"""Encrypt third-party secrets before they are stored, so that the database contains none.

AES-256-GCM. The owner of a secret is authenticated with it, so that a value copied to another row
cannot be opened there. Each value names its key; the first key seals, all keys open.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from penstock.model.errors import Waiting

_VERSION = b"\x01"
_KEY_BYTES = 32
_ID_BYTES = 4
_NONCE_BYTES = 12
_PATIENCE_MS = 30_000
_HOW = (
    "Set PENSTOCK_SECRET_KEY (or PENSTOCK_SECRET_KEY_FILE) to the same key on every machine; "
    "`penstock secrets new-key` makes one."
)


def new_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(_KEY_BYTES)).decode()


def parse_keys(text: str) -> list[bytes]:
    """Keys separated by commas, the newest first. A ValueError never contains a key."""
    keys = []
    for number, part in enumerate((one.strip() for one in text.split(",")), start=1):
        try:
            key = base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)
        except (ValueError, binascii.Error):
            key = b""
        if len(key) != _KEY_BYTES:
            raise ValueError(f"secret key {number} is not {_KEY_BYTES} bytes in base64")
        keys.append(key)
    return keys


def key_in_file(path: Path, *, make: bool) -> str | None:
    """The keys in the file; with ``make``, a new key if there is none."""
    try:
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        if not make:
            return None
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(fd, "w") as file:
            file.write(new_key() + "\n")
            file.flush()
            if os.geteuid() == 0:
                # The owner of the folder runs Penstock and must be able to read the key.
                owner = path.parent.stat()
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
            os.fsync(file.fileno())
        # If two processes create a key at the same time, both use the one that was written first.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    return path.read_text("ascii").strip()


class Sealer:
    """Implements `model.ports.Sealer`. ``find`` returns the keys on first use; None if none are
    configured."""

    def __init__(self, find: Callable[[], str | None]) -> None:
        self._find = find
        self._found: Sequence[bytes] = ()

    def seal(self, secret: bytes, owner: str) -> bytes:
        key, nonce = self._keys()[0], os.urandom(_NONCE_BYTES)
        head = _VERSION + _id_of(key)
        return head + nonce + AESGCM(key).encrypt(nonce, secret, head + owner.encode())

    def open(self, sealed: bytes, owner: str) -> bytes:
        head = sealed[: 1 + _ID_BYTES]
        nonce = sealed[len(head) : len(head) + _NONCE_BYTES]
        for key in self._keys():
            if head == _VERSION + _id_of(key):
                try:
                    rest = sealed[len(head) + _NONCE_BYTES :]
                    return AESGCM(key).decrypt(nonce, rest, head + owner.encode())
                except InvalidTag:
                    break
        raise _missing(
            "A stored secret does not open with the keys of this machine (it was sealed with key "
            f"{head[1:].hex()})."
        )

    def is_current(self, sealed: bytes) -> bool:
        """Whether the newest key sealed it."""
        return sealed[: 1 + _ID_BYTES] == _VERSION + _id_of(self._keys()[0])

    def _keys(self) -> Sequence[bytes]:
        if not self._found:
            text = self._find()
            if not text:
                raise _missing("There is no key to seal secrets with.")
            try:
                self._found = parse_keys(text)
            except ValueError as error:
                raise _missing(f"The {error}.") from error
        return self._found


def _missing(what: str) -> Waiting:
    """A transient error: an operator can configure the key, and nothing is lost."""
    return Waiting("SECRET_KEY_MISSING", f"{what} {_HOW}", retry_after_ms=_PATIENCE_MS)


def _id_of(key: bytes) -> bytes:
    return hashlib.sha256(b"penstock key id" + key).digest()[:_ID_BYTES]
