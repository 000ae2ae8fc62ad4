"""The passwords of the embedded database: random, in one file that only its owner reads."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path
from urllib.parse import quote

from penstock.supervisor.socket_folder import PORT

SUPERUSER = "postgres"
OWNER = "penstock"
API = "penstock_api"
DATABASE = "penstock"
_LOGINS = (SUPERUSER, OWNER, API)


def secrets_file(data_dir: Path) -> Path:
    return data_dir / "pg.secrets"


def read_passwords(data_dir: Path) -> dict[str, str]:
    """The passwords in the file; none if it is missing or damaged."""
    try:
        kept = json.loads(secrets_file(data_dir).read_text())
    except (FileNotFoundError, ValueError):
        return {}
    if not isinstance(kept, dict):
        return {}
    return {name: kept[name] for name in _LOGINS if isinstance(kept.get(name), str)}


def keep_passwords(data_dir: Path) -> dict[str, str]:
    """Add missing passwords to the file. Call this with the data folder's lock."""
    kept = read_passwords(data_dir)
    complete = {name: kept.get(name) or secrets.token_urlsafe(24) for name in _LOGINS}
    path = secrets_file(data_dir)
    if complete != kept:
        write_privately(path, json.dumps(complete))
    elif path.stat().st_mode & 0o077:
        path.chmod(0o600)
    return complete


def write_privately(path: Path, text: str, mode: int = 0o600) -> None:
    """Write the file completely or not at all, even if the power fails. It gets the owner of the
    folder."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(fd, "w") as file:
            file.write(text)
            file.flush()
            give_to_folder_owner(file.fileno(), path.parent)
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def give_to_folder_owner(fd: int, folder: Path) -> None:
    if os.geteuid() == 0:
        owner = folder.stat()
        os.fchown(fd, owner.st_uid, owner.st_gid)


def sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def dsn(role: str, password: str, database: str, folder: Path) -> str:
    # The port is spelled out because PGPORT in the environment would change it.
    return (
        f"postgresql://{role}:{quote(password)}@/{database}?host={quote(str(folder))}&port={PORT}"
    )


def scram_verifier(password: str, salt: bytes | None = None, rounds: int = 4096) -> str:
    """Computed here, so that no statement contains a password that an error could log."""
    salt = salt or secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, rounds)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    return f"SCRAM-SHA-256${rounds}:{_b64(salt)}${_b64(stored)}:{_b64(server)}"


def verifier_matches(password: str, verifier: str | None) -> bool:
    try:
        _, parameters, _ = (verifier or "").split("$")
        rounds, salt = parameters.split(":")
        expected = scram_verifier(password, base64.b64decode(salt), int(rounds))
    except ValueError:
        return False
    return hmac.compare_digest(expected, verifier or "")


def _b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
