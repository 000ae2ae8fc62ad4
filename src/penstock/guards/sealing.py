"""Secrets of others, sealed before they are stored: who reads the database reads none of them.

AES-256-GCM. What a secret belongs to is sealed in with it, so that a sealed value moved to another
row does not open there. Each value says by which key it was sealed; the first key seals, all open.
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
    """Keys with commas in between, the newest first; a ValueError never repeats them."""
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
    """What the file holds; a new key where there is none and one may be made."""
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
                # Whoever owns the folder runs Penstock, and must be able to read it.
                owner = path.parent.stat()
                os.fchown(file.fileno(), owner.st_uid, owner.st_gid)
            os.fsync(file.fileno())
        # Of two who make one at once, one wins, and both use that.
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    return path.read_text("ascii").strip()


class Sealer:
    """Implements `model.ports.Sealer`. ``find`` gives the keys when they are needed first; None
    where nobody set any."""

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
    """Whoever needs it waits: an operator can set it right, and nothing is lost by that."""
    return Waiting("SECRET_KEY_MISSING", f"{what} {_HOW}", retry_after_ms=_PATIENCE_MS)


def _id_of(key: bytes) -> bytes:
    return hashlib.sha256(b"penstock key id" + key).digest()[:_ID_BYTES]
