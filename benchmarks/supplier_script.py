"""The pandas script beside us: run in the peers' environment, against a database of its own."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, create_subprocess_exec
from pathlib import Path
from typing import Any

from benchmarks.lab import Lab
from benchmarks.peer_lab import NotMeasured, peer_database
from benchmarks.peers.install import PYTHON, ensure_environment
from benchmarks.peers.shape import POSTGRES_DSN

_NEEDS = ("pandas", "pydantic", "asyncpg", "psycopg2-binary", "python-calamine")
_ROOT = Path(__file__).parent.parent


async def run_script(lab: Lab, path: Path, driver: str) -> dict[str, Any]:
    """Seconds without its imports, products written, rows refused, and the most memory it held."""
    missing = await asyncio.to_thread(ensure_environment)
    for name in _NEEDS:
        if name in missing:
            raise NotMeasured(f"{name} is not installed: {missing[name]}")
    env = {**os.environ, POSTGRES_DSN: await peer_database(lab), "PYTHONPATH": str(_ROOT)}
    await lab.checkpoint()
    process = await create_subprocess_exec(
        str(PYTHON), "-m", "benchmarks.peers.supplier_script", str(path), driver, stdout=PIPE,
        env=env,
    )  # fmt: skip
    said, _ = await process.communicate()
    if process.returncode != 0:
        raise NotMeasured(f"the script ended with {process.returncode}")
    found: dict[str, Any] = json.loads(said)
    return found
