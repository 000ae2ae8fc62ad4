"""Real worker processes, and what a test does to them."""

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
from tests.warm import WarmProcess, started

from penstock.engine.failpoints import FAILPOINT
from penstock.pipelines.noop import ALLOW_CRASH
from penstock.settings import Settings

# Lanes a worker is to serve, parted by commas; unset: all.
LANES = "PENSTOCK_TEST_LANES"
_ROOT = Path(__file__).resolve().parents[2]
_MAIN = Path(__file__).with_name("worker_main.py")


@dataclass
class Hand:
    """One worker process."""

    process: subprocess.Popen[bytes] | WarmProcess
    log: Path
    journal: Path

    @property
    def id(self) -> str:
        """What it calls itself; known once it is up."""
        return self.log.read_text(errors="replace").split()[0]

    @property
    def begun(self) -> Sequence[Begun]:
        """Every item it has begun."""
        return read_journal(self.journal)

    @property
    def dead(self) -> bool:
        return self.process.poll() is not None

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """As a machine that sleeps: nothing of it runs until it is woken."""
        self.process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Ask it to end, and wait."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)

    @property
    def stopped(self) -> bool:
        """SIGSTOP has taken effect, by whoever it was sent."""
        state = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state == "T"

    async def dies(self, timeout: float = 60) -> int:
        """Wait until it is dead by its failpoint; answers how it ended."""

        async def died() -> bool:
            return self.dead

        await until(died, f"the worker to die; it said {self.said()}", timeout=timeout)
        return self.process.wait()

    async def dies_unless(self, over: Callable[[], Awaitable[bool]], timeout: float = 60) -> bool:
        """Whether it dies by its failpoint. False: the work was ``over`` before it got there, and
        the worker was ended."""

        async def died_or_over() -> bool:
            return self.dead or await over()

        await until(died_or_over, f"the worker to die; it said {self.said()}", timeout=timeout)
        if self.dead:
            return True
        self.end()
        return False

    async def is_up(self) -> None:
        """It has its connections and looks for work."""

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
class Crew:
    """Starts workers on a test's schema; whoever is left at the end is killed."""

    settings: Settings
    owner_dsn: str
    folder: Path
    # What each worker said, at the end; pytest shows it where the test failed.
    shows: bool = True
    hands: list[Hand] = field(default_factory=list)

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, hand in enumerate(self.hands):
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
    ) -> Hand:
        """A worker; ``elsewhere``: as on another machine, so that its death shows by its lease.
        ``through`` is a command that runs it."""
        number = len(self.hands)
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
                process = started("tests.chaos.worker_main", env=given, cwd=_ROOT, log=out)
            else:
                process = subprocess.Popen(
                    [*through, sys.executable, main], stdout=out, stderr=out, cwd=_ROOT, env=given
                )
        hand = Hand(process, log, journal)
        self.hands.append(hand)
        return hand

    def _another_machine(self, number: int) -> Path:
        """A data folder of its own; files are shared, as they would be."""
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
        # The code that lies beside it: that of another version comes with its own.
        root = main.parents[2]
        path = os.pathsep.join([str(root / "src"), str(root)])
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
        # Unbuffered: who is killed has said what it said.
        return {**kept, **given, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1", ALLOW_CRASH: "1",
                "PENSTOCK_TEST_OWNER_DSN": self.owner_dsn}  # fmt: skip

    def living(self) -> Iterator[Hand]:
        return (hand for hand in self.hands if not hand.dead)
