"""The embedded PostgreSQL with real processes: crashes, other users, hostile folders."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import asyncpg
import pytest

from penstock.supervisor import stale
from penstock.supervisor.connect import connect_or_start
from penstock.supervisor.errors import AlreadyRunning, StartFailed, UnsafeFolder
from penstock.supervisor.identity import NO_NAMESPACE
from penstock.supervisor.postgres import EmbeddedPostgres
from penstock.supervisor.socket_folder import socket_folder

SOURCE = Path(__file__).resolve().parents[2] / "src"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

HOLD = """
import asyncio, sys
from pathlib import Path
from penstock.supervisor.postgres import EmbeddedPostgres

async def main():
    async with EmbeddedPostgres(Path(sys.argv[1])) as server:
        print(server.pid, flush=True)
        await asyncio.to_thread(sys.stdin.read)

asyncio.run(main())
"""


def until(true: Callable[[], object], within_s: float = 60.0) -> None:
    deadline = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def ask(dsn: str, sql: str) -> object:
    connection = await asyncpg.connect(dsn, timeout=5)
    try:
        return await connection.fetchval(sql)
    finally:
        await connection.close()


def hold(data_dir: Path) -> subprocess.Popen[str]:
    """A supervising process of its own, for killing."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(data_dir)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def python_for_all() -> str:
    """An interpreter that other users may run; that of a virtualenv may lie in root's home."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")
    if found is None:
        pytest.skip(f"no {name} that an ordinary user can run")
    return found


def as_nobody(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    nobody = pwd.getpwnam("nobody")
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    return subprocess.run(
        [python_for_all(), "-B", "-c", code, *map(str, arguments)],
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": os.pathsep.join([str(SOURCE), *libraries])},
        cwd="/",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "d"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="pt-", dir="/tmp"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_starts_stops_and_restarts_quickly(data_dir: Path) -> None:
    async def scenario() -> None:
        began = time.monotonic()
        async with EmbeddedPostgres(data_dir) as server:
            cold_s = time.monotonic() - began
            assert server.poll() is None
            await ask(server.owner_dsn, "CREATE SCHEMA kept")
        assert server.pid is None
        began = time.monotonic()
        async with EmbeddedPostgres(data_dir) as server:
            warm_s = time.monotonic() - began
            found = await ask(server.owner_dsn, "SELECT to_regnamespace('kept')::text")
            assert found == "kept"
        print(f"cold {cold_s:.2f} s, restart {warm_s:.2f} s")
        assert cold_s < 10
        assert warm_s < 5

    asyncio.run(scenario())


def test_files_are_private_and_tcp_is_off(data_dir: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedPostgres(data_dir) as server:
            for name, mode in (("run", 0o700), ("pg", 0o700), ("pg.secrets", 0o600)):
                assert (data_dir / name).stat().st_mode & 0o777 == mode, name
            assert await ask(server.superuser_dsn, "SHOW listen_addresses") == ""
            rules = await ask(
                server.superuser_dsn, "SELECT array_agg(auth_method) FROM pg_hba_file_rules"
            )
            assert rules == ["scram-sha-256"]
            wrong = server.owner_dsn.replace("penstock:", "penstock:x", 1)
            with pytest.raises(asyncpg.InvalidPasswordError):
                await ask(wrong, "SELECT 1")

    asyncio.run(scenario())


def test_roles(data_dir: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedPostgres(data_dir) as server:
            strong = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
            assert await ask(server.owner_dsn, strong) is False
            assert await ask(server.api_dsn, strong) is False
            owner = await asyncpg.connect(server.owner_dsn)
            await owner.execute(
                "CREATE ROLE penstock_extra; CREATE TABLE t (a int);"
                "GRANT SELECT ON t TO penstock_admin; SET ROLE penstock_admin; RESET ROLE;"
                "SET ROLE penstock_api; RESET ROLE"
            )
            await owner.close()
            api = await asyncpg.connect(server.api_dsn)
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await api.fetch("SELECT * FROM t")
            async with api.transaction():
                await api.execute("SET LOCAL ROLE penstock_admin")
                assert await api.fetch("SELECT * FROM t") == []
            await api.close()

    asyncio.run(scenario())


def test_repairs_roles_and_lost_secrets(data_dir: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedPostgres(data_dir) as server:
            connection = await asyncpg.connect(server.superuser_dsn)
            await connection.execute("DROP ROLE penstock_admin")
            await connection.execute("ALTER ROLE penstock SUPERUSER")
            await connection.close()
        (data_dir / "pg.secrets").unlink()
        async with EmbeddedPostgres(data_dir) as server:
            sql = "SELECT rolsuper FROM pg_roles WHERE rolname = 'penstock'"
            assert await ask(server.owner_dsn, sql) is False
            assert await ask(server.api_dsn, "SELECT 'penstock_admin'::regrole::text")

    asyncio.run(scenario())


def test_durability_cannot_be_switched_off(data_dir: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedPostgres(data_dir) as server:
            for name in ("fsync", "full_page_writes", "synchronous_commit"):
                await ask(server.superuser_dsn, f"ALTER SYSTEM SET {name} = off")
        async with EmbeddedPostgres(data_dir) as server:
            for name in ("fsync", "full_page_writes", "synchronous_commit"):
                assert await ask(server.owner_dsn, f"SHOW {name}") == "on"

    asyncio.run(scenario())


def test_second_start_is_refused_with_the_pid(data_dir: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedPostgres(data_dir):
            with pytest.raises(AlreadyRunning) as refused:
                await EmbeddedPostgres(data_dir).start()
            assert refused.value.pid == os.getpid()
        await EmbeddedPostgres(data_dir).stop()

    asyncio.run(scenario())


def test_killed_supervisor_takes_postgres_down(data_dir: Path) -> None:
    holder = hold(data_dir)
    assert holder.stdout
    postmaster = int(holder.stdout.readline())
    holder.kill()
    holder.wait()

    async def scenario() -> None:
        async with EmbeddedPostgres(data_dir) as server:
            assert server.pid != postmaster
            assert await ask(server.owner_dsn, "SELECT 1") == 1

    asyncio.run(scenario())
    until(lambda: not alive(postmaster))
    assert stale.working_in(data_dir / "pg") == []


def test_killed_while_making_the_cluster(data_dir: Path) -> None:
    holder = hold(data_dir)
    until(lambda: list(data_dir.glob("pg.init.*/global")))
    holder.kill()
    holder.wait()
    assert not (data_dir / "pg").exists()

    async def scenario() -> None:
        async with EmbeddedPostgres(data_dir) as server:
            assert await ask(server.owner_dsn, "SELECT 1") == 1

    asyncio.run(scenario())
    assert list(data_dir.glob("pg.init.*")) == []


def test_killed_postmaster_is_started_again(data_dir: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedPostgres(data_dir) as server:
            await ask(server.owner_dsn, "CREATE TABLE kept ()")
            first = server.pid
            assert first
            os.kill(first, signal.SIGKILL)
            until(lambda: server.poll() is not None)
            began = time.monotonic()
            await server.start()
            print(f"after kill -9 of the postmaster: {time.monotonic() - began:.2f} s")
            assert server.pid != first
            assert await ask(server.owner_dsn, "SELECT to_regclass('kept')::text") == "kept"

    asyncio.run(scenario())


@pytest.mark.parametrize("whose", ["foreign", "own"])
def test_reused_pid_in_lock_files(data_dir: Path, whose: str) -> None:
    """A living stranger behind the pid does not stop us; a process in the cluster does."""

    async def make() -> None:
        async with EmbeddedPostgres(data_dir):
            pass

    asyncio.run(make())
    cluster, folder = data_dir / "pg", data_dir / "run"
    other = subprocess.Popen(["sleep", "60"], cwd="/" if whose == "foreign" else cluster)
    lines = f"{other.pid}\n{cluster}\n1700000000\n5432\n{folder}\n\n  0  0\nready   \n"
    (cluster / "postmaster.pid").write_text(lines)
    (folder / ".s.PGSQL.5432.lock").write_text(lines)
    try:
        if whose == "foreign":
            asyncio.run(make())
        else:
            stale.clear_foreign_locks(cluster, folder)
            assert stale.locked_by(cluster / "postmaster.pid") == other.pid
            assert stale.locked_by(folder / ".s.PGSQL.5432.lock") == other.pid
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("name", ["x" * 120, "a, b 'c'"], ids=["long", "odd"])
def test_paths_a_socket_cannot_have(tmp_path: Path, name: str) -> None:
    data_dir = tmp_path / name

    async def scenario() -> None:
        async with EmbeddedPostgres(data_dir) as server:
            assert await ask(server.owner_dsn, "SELECT 1") == 1
            joined = await connect_or_start(data_dir)
            assert not joined.owned
            await joined.close()

    folder = socket_folder(data_dir, os.geteuid())
    try:
        asyncio.run(scenario())
        assert folder.parent == Path("/tmp")
        assert folder.stat().st_mode & 0o777 == 0o700
        folder.chmod(0o755)
        with pytest.raises(UnsafeFolder, match="open to others"):
            asyncio.run(scenario())
        folder.rmdir()
        folder.symlink_to(tmp_path)
        with pytest.raises(UnsafeFolder, match="not a folder"):
            asyncio.run(scenario())
    finally:
        if folder.is_symlink():
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)


def test_failure_shows_the_log(data_dir: Path) -> None:
    async def scenario() -> None:
        async with EmbeddedPostgres(data_dir):
            pass
        (data_dir / "pg" / "postgresql.auto.conf").write_text("shared_buffers = 'plenty'\n")
        with pytest.raises(StartFailed, match="plenty"):
            await EmbeddedPostgres(data_dir).start()
        await EmbeddedPostgres(data_dir).stop()

    asyncio.run(scenario())


def test_commands_join_or_start(data_dir: Path) -> None:
    async def scenario() -> None:
        first, second = await asyncio.gather(connect_or_start(data_dir), connect_or_start(data_dir))
        assert {first.owned, second.owned} == {True, False}
        owner, guest = (first, second) if first.owned else (second, first)
        leaving = asyncio.create_task(owner.close())
        assert await ask(guest.owner_dsn, "SELECT 1") == 1
        done, _ = await asyncio.wait({leaving}, timeout=0.3)
        assert not done, "the owner left while a guest was connected"
        await guest.close()
        await leaving
        again = await connect_or_start(data_dir)
        assert again.owned
        await again.close()

    asyncio.run(scenario())


@needs_root
def test_without_user_namespaces(open_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data_dir = open_folder / "d"

    async def scenario() -> int:
        async with EmbeddedPostgres(data_dir) as server:
            assert await ask(server.api_dsn, "SELECT 1") == 1
            return Path(f"/proc/{server.pid}").stat().st_uid

    monkeypatch.setenv(NO_NAMESPACE, "1")
    account = asyncio.run(scenario())
    assert account != 0
    assert (data_dir / "pg").stat().st_uid == (data_dir / "run").stat().st_uid == account
    assert (data_dir / "pg.secrets").stat().st_uid == 0
    # … and back, the files change hands again.
    monkeypatch.delenv(NO_NAMESPACE)
    assert asyncio.run(scenario()) in (0, account)
    data_dir.chmod(0o700)
    monkeypatch.setenv(NO_NAMESPACE, "1")
    with pytest.raises(UnsafeFolder, match="PENSTOCK_DATA_DIR") as refused:
        asyncio.run(scenario())
    assert str(data_dir) in str(refused.value)


@needs_root
def test_ordinary_user_and_root_share_a_folder(open_folder: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    data_dir = open_folder / "d"
    data_dir.mkdir(mode=0o700)
    os.chown(data_dir, nobody.pw_uid, nobody.pw_gid)

    async def as_root() -> None:
        async with EmbeddedPostgres(data_dir) as server:
            assert await ask(server.owner_dsn, "SELECT 1") == 1

    for turn in range(2):
        done = as_nobody(HOLD, data_dir)
        assert done.returncode == 0, done.stderr
        if turn == 0:
            asyncio.run(as_root())
    foreign = [path for path in data_dir.rglob("*") if path.lstat().st_uid != nobody.pw_uid]
    assert foreign == []


@needs_root
def test_other_users_stay_outside(open_folder: Path) -> None:
    knock = (
        "import socket, sys\n"
        "s = socket.socket(socket.AF_UNIX)\n"
        "try:\n    s.connect(sys.argv[1])\n"
        "except PermissionError:\n    print('denied')\n"
    )
    data_dir = open_folder / "d"
    data_dir.mkdir(mode=0o755)

    async def scenario() -> None:
        async with EmbeddedPostgres(data_dir) as server:
            socket_path = data_dir / "run" / ".s.PGSQL.5432"
            assert socket_path.is_socket()
            assert as_nobody(knock, socket_path).stdout.strip() == "denied"
            read = as_nobody(
                "print(open(__import__('sys').argv[1]).read())", data_dir / "pg.secrets"
            )
            assert "PermissionError" in read.stderr
            start = as_nobody(HOLD, data_dir)
            assert "UnsafeFolder" in start.stderr
            assert server.poll() is None

    asyncio.run(scenario())
