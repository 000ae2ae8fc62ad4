"""Lock files of a dead PostgreSQL whose pid now belongs to another program.

PostgreSQL recognises a lock file whose process is gone, but takes any living process with that
pid for a running server and refuses to start, after a container restart for good.
"""

from __future__ import annotations

import os
from pathlib import Path

_PROC = Path("/proc")


def clear_foreign_locks(cluster: Path, folder: Path) -> None:
    """Delete them. Call this with the data folder's lock: no other process starts a server then."""
    if not (_PROC / "self" / "cwd").exists():
        return
    for lock in (cluster / "postmaster.pid", *folder.glob(".s.PGSQL.*.lock")):
        pid = locked_by(lock)
        # Processes of a dead server may still write: while one is left, the file must stay.
        if pid is not None and _is_foreign(pid, cluster) and not working_in(cluster):
            lock.unlink(missing_ok=True)


def locked_by(lock: Path) -> int | None:
    try:
        # PostgreSQL writes the pid negative in single-user mode.
        return abs(int(lock.read_text().split("\n", 1)[0]))
    except (OSError, ValueError):
        return None


def _is_foreign(pid: int, cluster: Path) -> bool:
    """Whether the process is certainly not a server of this cluster."""
    process = _PROC / str(pid)
    try:
        if (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        return not os.path.samestat((process / "cwd").stat(), cluster.stat())
    except OSError:
        return False


def working_in(cluster: Path) -> list[int]:
    """The processes whose working folder is, or may be, the cluster."""
    here = cluster.stat()
    return [
        int(process.name)
        for process in _PROC.iterdir()
        if process.name.isdigit() and _may_work_in(process, here)
    ]


def _may_work_in(process: Path, here: os.stat_result) -> bool:
    try:
        return os.path.samestat((process / "cwd").stat(), here)
    except PermissionError:
        # Other users cannot enter the cluster; of our own, only a postgres would matter.
        try:
            ours = process.stat().st_uid == os.geteuid()
            return ours and (process / "comm").read_text().strip() == "postgres"
        except OSError:
            return False
    except OSError:
        return False
