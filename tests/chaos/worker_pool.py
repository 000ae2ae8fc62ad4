"""Real worker processes, which tests stop, freeze and kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.chaos.journal import JOURNAL, Begun, read_journal
from tests.checker.polling import until
from tests.warm import WarmProcess, start_process

from penstock.engine.failpoints import FAILPOINT
from penstock.pipelines.noop import ALLOW_CRASH
from penstock.settings import Settings

# Lanes that a worker serves, separated by commas; unset: all.
LANES = "PENSTOCK_TEST_LANES"
_ROOT = Path(__file__).resolve().parents[2]
_MAIN = Path(__file__).with_name("worker_main.py")


@dataclass
class WorkerProcess:
    """One worker process."""

    process: subprocess.Popen[bytes] | WarmProcess
    log: Path
    journal: Path

    @property
    def id(self) -> str:
        """The id of the worker, in its log once it is up."""
        return self.log.read_text(errors="replace").split()[0]

    @property
    def begun(self) -> Sequence[Begun]:
        """Every item that this worker began."""
        return read_journal(self.journal)

    @property
    def dead(self) -> bool:
        return self.process.poll() is not None

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Freeze the process, like a suspended machine, until `wake`."""
        self.process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Send SIGTERM and wait for the end of the process."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)

    @property
    def stopped(self) -> bool:
        """Whether a SIGSTOP has taken effect."""
        state = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "T"

    async def dies(self, timeout: float = 60) -> int:
        """Wait until its failpoint has ended it; answers the exit code."""

        async def died() -> bool:
            return self.dead

        await until(died, f"the worker to die; its log: {self.said()}", timeout=timeout)
        return self.process.wait()

    async def dies_unless(self, over: Callable[[], Awaitable[bool]], timeout: float = 60) -> bool:
        """Whether its failpoint ends it. False: the work was ``over`` before it reached the
        failpoint, and the worker was stopped."""

        async def died_or_over() -> bool:
            return self.dead or await over()

        await until(died_or_over, f"the worker to die; its log: {self.said()}", timeout=timeout)
        if self.dead:
            return True
        self.end()
        return False

    async def is_up(self) -> None:
        """Wait until the worker has its connections and looks for work."""

        async def said_so() -> bool:
            assert not self.dead, self.said()
            return bool(self.said())

        await until(said_so, "the worker to be up")

    async def freezes(self, timeout: float = 60) -> None:
        async def frozen() -> bool:
            assert not self.dead, self.said()
            return self.stopped

        await until(frozen, "the worker to stop", timeout=timeout)

    def said(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]


@dataclass
class WorkerPool:
    """Starts workers on a test's schema. Workers that are left at the end are killed."""

    settings: Settings
    owner_dsn: str
    folder: Path
    # Print the log of each worker at the end; pytest shows it if the test fails.
    shows: bool = True
    processes: list[WorkerProcess] = field(default_factory=list)

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, hand in enumerate(self.processes):
            if self.shows:
                print(f"worker {number} ({hand.process.poll()}) said:\n{hand.said()}")
            if not hand.dead:
                hand.wake()
                hand.kill()

    def start(
        self,
        failpoint: str = "",
        *,
        elsewhere: bool = False,
        main: Path = _MAIN,
        through: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> WorkerProcess:
        """Start a worker. ``elsewhere``: as on another machine, so that its death is detected when
        its lease expires. ``through`` is a command that runs it."""
        number = len(self.processes)
        changes = dict(settings)
        if elsewhere:
            changes["data_dir"] = self._another_machine(number)
        log, journal = (self.folder / f"worker-{number}.{end}" for end in ("log", "journal"))
        given = {
            **self._env(changes, main), FAILPOINT: failpoint, JOURNAL: str(journal), **(env or {}),
        }  # fmt: skip
        with log.open("wb") as out:
            process: subprocess.Popen[bytes] | WarmProcess
            if main == _MAIN and not through and "LD_PRELOAD" not in given:
                process = start_process("tests.chaos.worker_main", env=given, cwd=_ROOT, log=out)
            else:
                process = subprocess.Popen(
                    [*through, sys.executable, main], stdout=out, stderr=out, cwd=_ROOT, env=given
                )
        hand = WorkerProcess(process, log, journal)
        self.processes.append(hand)
        return hand

    def _another_machine(self, number: int) -> Path:
        """A separate data folder, with the same files, as on another machine."""
        folder = self.folder / f"elsewhere-{number}"
        folder.mkdir()
        self.settings.blob_dir.mkdir(parents=True, exist_ok=True)
        (folder / "blobs").symlink_to(self.settings.blob_dir)
        return folder

    def _env(self, changes: dict[str, Any], main: Path) -> dict[str, str]:
        settings = self.settings.model_copy(update=changes)
        given = {
            f"PENSTOCK_{name.upper()}": str(getattr(settings, name))
            for name in (*self.settings.model_fields_set, *changes)
        }
        # The code beside ``main``: another version of the worker has its own.
        root = main.parents[2]
        path = os.pathsep.join([str(root / "src"), str(root)])
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
        # Unbuffered, so that the log of a killed process is complete.
        return {**kept, **given, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", ALLOW_CRASH: "1",
                "PENSTOCK_TEST_OWNER_DSN": self.owner_dsn}  # fmt: skip

    def living(self) -> Iterator[WorkerProcess]:
        return (hand for hand in self.processes if not hand.dead)
