"""Progress on stderr: a bar at a terminal, a line now and then elsewhere, or nothing."""

from __future__ import annotations

import os
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from penstock.cli.printing import note

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_SECONDS_BETWEEN_LINES = 2.0


class ProgressBar:
    """Shows the progress of a job; may be updated at any rate."""

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        self._title = title
        self._quiet = quiet
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._told_at = time.monotonic()
        self._told = ""

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
            self._bar = _new_bar()
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=100, message="")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, progress: dict[str, Any]) -> None:
        if self._quiet:
            return
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=progress["percent"], message=progress["message"])
            return
        line = f"{progress['percent']:5.1f} %  {progress['message']}"
        now = time.monotonic()
        if line != self._told and now - self._told_at >= _SECONDS_BETWEEN_LINES:
            self._told, self._told_at = line, now
            note(line)


def _new_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[message]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
