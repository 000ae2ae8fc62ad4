"""The most memory any process of `penstock extract` holds; PostgreSQL's own are not counted."""

from __future__ import annotations

import os
import sys
from asyncio.subprocess import DEVNULL, create_subprocess_exec
from collections.abc import Sequence
from pathlib import Path

from benchmarks.data import make_csv
from benchmarks.entry import Entry, Line, Scale, at_most
from benchmarks.lab import Lab
from benchmarks.resident import watched


async def peak(path: Path, data_dir: Path) -> float:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PENSTOCK_DATA_DIR": str(data_dir),
    }
    process = await create_subprocess_exec(
        sys.executable, "-m", "penstock", "extract", str(path), "--quiet",
        "-o", str(path.with_suffix(".clean.csv")), env=environment, stdout=DEVNULL,
    )  # fmt: skip
    async with watched([process.pid]) as most:
        await process.wait()
    if process.returncode != 0:
        raise RuntimeError(f"penstock extract ended with {process.returncode}")
    return most.one


async def run(lab: Lab, scale: Scale) -> Sequence[Line]:
    lines = []
    for rows, most in ((10_000, 120), (100_000, 200)):
        if scale.quick and rows > 10_000:
            continue
        path = make_csv(lab.folder / f"memory-{rows}.csv", rows)
        data_dir = lab.folder / "extract"
        # It hardly varies, and starting a server each time is slow.
        found = [await peak(path, data_dir) for _ in range(scale.of(scale.repetitions, 1))]
        lines.append(at_most(f"memory: extract {rows:,} rows", "MB", found, most))
    return lines


ENTRY = Entry(
    "memory", run, "Memory", "The most that any process of `penstock extract` holds (resident);"
    " PostgreSQL's own processes are not counted.",
)  # fmt: skip
