"""The embedded PostgreSQL: a child process, which is up once it answers."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self

import asyncpg

from penstock.supervisor import cluster as files
from penstock.supervisor.credentials import (
    API,
    DATABASE,
    OWNER,
    SUPERUSER,
    dsn,
    give_to_folder_owner,
    keep_passwords,
    read_passwords,
)
from penstock.supervisor.errors import AlreadyRunning, StartFailed, UnsafeFolder
from penstock.supervisor.identity import Identity, choose_identity, wants_fallback
from penstock.supervisor.lock import FolderLock
from penstock.supervisor.roles import ensure_roles
from penstock.supervisor.socket_folder import make_socket_folder, require_private, socket_folder
from penstock.supervisor.stale import clear_foreign_locks, locked_by, working_in

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

__all__ = ["AlreadyRunning", "EmbeddedPostgres", "StartFailed", "UnsafeFolder"]

_START_S = 60.0
_RECOVERY_S = 900.0
_CONNECT_PAUSE_S = 0.02
_LAUNCH_PAUSE_S = 0.05
# Errors that pass: a server that died moments ago has not released its resources yet.
_PASSING = ("already exists", "still in use")
_MAX_OTHER_FAILURES = 3


class EmbeddedPostgres:
    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir.expanduser().resolve()
        self.cluster = self.data_dir / "pg"
        self.log = self.data_dir / "pg.log"
        self._lock = FolderLock(self.data_dir / "pg.lock")
        self._process: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    # Addresses

    @property
    def owner_dsn(self) -> str:
        return self._dsn(OWNER, DATABASE)

    @property
    def api_dsn(self) -> str:
        return self._dsn(API, DATABASE)

    @property
    def superuser_dsn(self) -> str:
        return self._dsn(SUPERUSER, "postgres")

    def _dsn(self, role: str, database: str) -> str:
        """Readable by any process on the data folder, once the server has been started."""
        try:
            uid = self.cluster.stat().st_uid
            password = read_passwords(self.data_dir)[role]
            folder = socket_folder(self.data_dir, uid)
            require_private(folder, uid)
        except PermissionError as error:
            raise UnsafeFolder(
                f"No permission for {self.data_dir}: it belongs to another user. "
                "Run Penstock as that user, or choose another PENSTOCK_DATA_DIR."
            ) from error
        except (FileNotFoundError, KeyError) as error:
            raise StartFailed(f"No PostgreSQL was started on {self.data_dir} yet.") from error
        return dsn(role, password, database, folder)

    # Life

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process and self._process.poll() is None else None

    def poll(self) -> int | None:
        """None while PostgreSQL runs, else how it ended (0 when it was never started)."""
        return self._process.poll() if self._process else 0

    def acquire(self) -> None:
        """Lock the data folder for this process, or raise AlreadyRunning."""
        self._make_data_dir()
        self._lock.take()

    async def start(self) -> None:
        """Start PostgreSQL, also after it died. After a failure none of its processes is left."""
        if self.pid is not None:
            return
        had_lock = self._lock.held
        self.acquire()
        try:
            await self._bring_up()
        except BaseException:
            await self._end_process()
            if not had_lock:
                self._lock.release()
            raise

    async def stop(self) -> None:
        try:
            await self._end_process()
        finally:
            self._lock.release()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.stop()

    # Steps

    def _make_data_dir(self) -> None:
        if self.data_dir.is_dir():
            return
        # The account that PostgreSQL runs as must be able to enter its cluster.
        fallback = wants_fallback(files.find_binaries())
        try:
            self.data_dir.mkdir(mode=0o711 if fallback else 0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise UnsafeFolder(
                f"Cannot make the data folder {self.data_dir}: {error.strerror}. "
                "Choose another with PENSTOCK_DATA_DIR."
            ) from error

    async def _bring_up(self) -> None:
        binaries = files.find_binaries()
        who = choose_identity(self.data_dir, binaries)
        passwords = keep_passwords(self.data_dir)
        files.ensure_cluster(self.data_dir, who, passwords[SUPERUSER], binaries)
        folder = make_socket_folder(self.data_dir, who.uid, who.gid)
        files.write_config(self.cluster, folder, binaries)
        files.rotate_log(self.log)
        try:
            connection = await self._launch_until_answer(who, folder, binaries)
        except asyncpg.InvalidAuthorizationSpecificationError:
            await self._end_process()
            files.set_superuser_password(self.cluster, who, passwords[SUPERUSER], binaries)
            connection = await self._launch_until_answer(who, folder, binaries)
        try:
            await ensure_roles(connection, passwords)
        finally:
            await connection.close()

    async def _launch_until_answer(self, who: Identity, folder: Path, binaries: Path) -> Connection:
        began = monotonic()
        other_failures = 0
        self._launch(who, folder, binaries)
        while True:
            if self.poll() is not None:
                output = files.log_since(self.log, self._log_start)
                other_failures += not any(text in output for text in _PASSING)
                if other_failures >= _MAX_OTHER_FAILURES or monotonic() - began > _START_S:
                    raise self._start_failed()
                await asyncio.sleep(_LAUNCH_PAUSE_S)
                self._launch(who, folder, binaries)
                continue
            connection, recovering = await self._try_connect()
            if connection is not None:
                return connection
            if monotonic() - began > (_RECOVERY_S if recovering else _START_S):
                raise self._start_failed()
            await asyncio.sleep(_CONNECT_PAUSE_S)

    def _launch(self, who: Identity, folder: Path, binaries: Path) -> None:
        clear_foreign_locks(self.cluster, folder)
        fd = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(fd, "ab") as log:
            give_to_folder_owner(log.fileno(), self.data_dir)
            self._log_start = os.fstat(log.fileno()).st_size
            self._process = subprocess.Popen(
                [binaries / "postgres", "-D", self.cluster, *files.as_options(files.SAFETY)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=files.SERVER_ENV,
                cwd="/",
                umask=0o077,
                start_new_session=True,
                preexec_fn=who.launch_hook(signal.SIGINT),
            )

    async def _try_connect(self) -> tuple[Connection | None, bool]:
        """Check that our child answers: a predecessor that ends may still listen on the socket."""
        if locked_by(self.cluster / "postmaster.pid") != self.pid:
            return None, False
        try:
            connection = await asyncpg.connect(self.superuser_dsn, timeout=5)
        except asyncpg.CannotConnectNowError:
            return None, True
        except asyncpg.InvalidAuthorizationSpecificationError:
            raise
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
            return None, False
        if await connection.fetchval("SELECT 1") == 1:
            return connection, False
        return None, False

    def _start_failed(self) -> StartFailed:
        others = [pid for pid in working_in(self.cluster) if pid != self.pid]
        hint = f" Processes {others} still work in {self.cluster}." if others else ""
        output = files.log_since(self.log, self._log_start)
        if "No space left on device" in output:
            hint = f" There is no space left for {self.data_dir}: free some, and it starts."
        what = "\n".join(files.what_went_wrong(output)) or "(nothing)"
        return StartFailed(f"PostgreSQL did not start.{hint} {self.log} says:\n{what}")

    async def _end_process(self) -> None:
        """SIGINT ends sessions and writes a checkpoint; SIGQUIT leaves that to recovery."""
        for sign, patience_s in ((signal.SIGINT, 30), (signal.SIGQUIT, 10), (signal.SIGKILL, 10)):
            if self._process is None or self._process.poll() is not None:
                break
            self._process.send_signal(sign)
            deadline = monotonic() + patience_s
            while self._process.poll() is None and monotonic() < deadline:
                await asyncio.sleep(_CONNECT_PAUSE_S)
        self._process = None
