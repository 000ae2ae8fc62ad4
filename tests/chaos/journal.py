"""The noop pipeline of test workers, which records in a file when each item began."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO
from uuid import UUID

from penstock.model.outcomes import Outcome
from penstock.model.pipeline import Item, Stage, each
from penstock.model.ports import Context
from penstock.pipelines.noop import Noop, NoopConfig, _work

JOURNAL = "PENSTOCK_TEST_JOURNAL"


@dataclass(frozen=True)
class Begun:
    """The run of an item, by the clock of its worker."""

    at: float
    job_id: UUID
    row_no: int


class JournalledNoop(Noop):
    def __init__(self, file: TextIO) -> None:
        self._file = file

    def _stage(self, name: str, config: NoopConfig, is_last: bool) -> Stage:
        if config.cpu_ms:
            return super()._stage(name, config, is_last)
        work = each(partial(self._begin, is_last=is_last), config.concurrency)
        return Stage(name, run=work, barrier=config.barrier and is_last)

    async def _begin(self, item: Item, ctx: Context, is_last: bool) -> Outcome:
        self._file.write(f"{time.time()} {item.job.id} {item.row_no}\n")
        return await _work(item, ctx, is_last)


def noop_of_this_process() -> dict[str, Any]:
    """The noop pipeline that writes a journal, if the environment names one."""
    path = os.environ.get(JOURNAL)
    if path is None:
        return {}
    # Each line is written at once, so that the journal of a killed process is complete.
    return {"noop": JournalledNoop(open(path, "a", buffering=1, encoding="utf-8"))}


def read_journal(path: Path) -> Sequence[Begun]:
    if not path.exists():
        return []
    lines = (line.split() for line in path.read_text("utf-8").splitlines())
    return [Begun(float(at), UUID(job_id), int(row)) for at, job_id, row in lines]
