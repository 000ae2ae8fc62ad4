"""The checks of `penstock doctor` on this machine; `database_checks` checks the database."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import shutil
import sys
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from penstock.api.http.versions import HEADER
from penstock.cli.operate.database_checks import database_checks
from penstock.cli.operate.finding import Check, fail, ok, warn
from penstock.guards import sandbox
from penstock.settings import Settings
from penstock.supervisor.address import base_url, require_free_port
from penstock.supervisor.cluster import find_binaries
from penstock.supervisor.errors import PortTaken, SupervisorError

_OLDEST_PYTHON = (3, 11)
_LITTLE_SPACE = 5 * 1024**3
_NO_SPACE = 512 * 1024**2


async def run_checks(settings: Settings) -> list[Check]:
    return [
        _python(),
        _data_folder(settings.data_dir),
        _space(settings.data_dir),
        _children(),
        _binaries(settings),
        *await database_checks(settings),
        _admin_key(settings.admin_key_file),
        await _port(settings),
    ]


def _python() -> Check:
    if sys.version_info[:2] < _OLDEST_PYTHON:
        return fail("Python", platform.python_version(), "Install Python 3.11 or newer.")
    return ok("Python", platform.python_version())


def _data_folder(folder: Path) -> Check:
    todo = "Choose another with PENSTOCK_DATA_DIR."
    if not folder.exists():
        above = _nearest_existing(folder)
        if os.access(above, os.W_OK | os.X_OK):
            return ok("Data folder", f"{folder} will be made at the first start.")
        return fail("Data folder", f"{folder} cannot be made: {above} is not writable.", todo)
    if not folder.is_dir():
        return fail("Data folder", f"{folder} is no folder.", todo)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return fail("Data folder", f"{folder} is not writable.", todo)
    return ok("Data folder", f"{folder} is writable.")


def _children() -> Check:
    lacking = sandbox.missing()
    said = sandbox.described(lacking)
    return warn("Child processes", said) if lacking else ok("Child processes", said)


def _space(folder: Path) -> Check:
    free = shutil.disk_usage(_nearest_existing(folder)).free
    message = f"{free / 1024**3:.1f} GiB are free."
    todo = "Free some, or move the data folder."
    if free < _NO_SPACE:
        return fail("Disk space", message, todo)
    return warn("Disk space", message, todo) if free < _LITTLE_SPACE else ok("Disk space", message)


def _nearest_existing(folder: Path) -> Path:
    resolved = folder.expanduser().resolve()
    return next(path for path in (resolved, *resolved.parents) if path.exists())


def _binaries(settings: Settings) -> Check:
    if settings.database_url is not None:
        return ok("PostgreSQL programs", "not needed with PENSTOCK_DATABASE_URL.")
    try:
        return ok("PostgreSQL programs", str(find_binaries()))
    except SupervisorError as error:
        return fail("PostgreSQL programs", str(error))


def _admin_key(file: Path) -> Check:
    try:
        mode = file.stat().st_mode & 0o777
    except FileNotFoundError:
        return warn("Admin key", f"{file} is not there.", "`penstock migrate` makes one.")
    except OSError as error:
        return fail("Admin key", f"{file}: {error.strerror}.", "Run as the folder's owner.")
    if mode & 0o077:
        return fail("Admin key", f"{file} can be read by others.", f"Run: chmod 600 {file}")
    return ok("Admin key", f"{file} is private.")


async def _port(settings: Settings) -> Check:
    url = base_url(settings.host, settings.port)
    try:
        require_free_port(settings.host, settings.port)
    except PortTaken as error:
        version = await asyncio.to_thread(_penstock_at, url)
        if version is None:
            return fail("Port", str(error))
        return ok("Port", f"Penstock (API {version}) answers at {url}.")
    return ok("Port", f"{settings.port} on {settings.host} is free.")


def _penstock_at(url: str) -> str | None:
    """The version of the API of the Penstock that answers there, also if it is not well."""
    connection = HTTPConnection(urlsplit(url).netloc, timeout=3)
    try:
        connection.request("GET", "/health")
        answer = connection.getresponse()
        told, version = json.loads(answer.read(10_000)), answer.getheader(HEADER)
    except (OSError, HTTPException, ValueError):
        return None
    finally:
        connection.close()
    return version if isinstance(told, dict) and "status" in told else None
