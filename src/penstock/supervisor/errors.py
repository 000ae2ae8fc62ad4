"""Errors that keep Penstock from starting, with messages for the user at the terminal.

SupervisorError
├── AlreadyRunning    another process uses this data folder
├── PortTaken         the API's address cannot be listened on
├── UnsafeFolder      a folder is not private, or the account cannot reach it
└── StartFailed       PostgreSQL or the API did not come up
"""

from __future__ import annotations

from pathlib import Path


class SupervisorError(Exception):
    """The message says what happened and what to do."""


class AlreadyRunning(SupervisorError):
    def __init__(self, data_dir: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid else "another process"
        super().__init__(
            f"Penstock already runs on {data_dir} ({holder}). "
            "Stop it first, or choose another folder with PENSTOCK_DATA_DIR."
        )
        self.pid = pid


class PortTaken(SupervisorError):
    pass


class UnsafeFolder(SupervisorError):
    pass


class StartFailed(SupervisorError):
    pass
