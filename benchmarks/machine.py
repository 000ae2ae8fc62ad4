"""What the figures were taken on."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import asyncpg
import psutil

from benchmarks.peers import SYSTEMS


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def _commit() -> str:
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"],
            cwd=Path(__file__).parent, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"


def _peers() -> dict[str, str]:
    """Versions of the other queues, as pinned, and of Redis."""
    pinned = (Path(__file__).parent / "peers" / "requirements.txt").read_text("utf-8")
    asked = dict.fromkeys(system.module for system in SYSTEMS)
    found = {name: re.search(rf"^{name}==(\S+)", pinned, re.MULTILINE) for name in asked}
    versions = {name: match[1] for name, match in found.items() if match}
    redis = shutil.which("redis-server")
    if redis is not None:
        said = subprocess.run([redis, "--version"], capture_output=True, text=True, check=False)
        match = re.search(r"v=(\S+)", said.stdout)
        versions["redis-server"] = match[1] if match else "unknown"
    return versions


async def facts(dsn: str) -> dict[str, Any]:
    conn = await asyncpg.connect(dsn)
    try:
        server = await conn.fetchval("SHOW server_version")
        settings = await conn.fetch(
            "SELECT name, current_setting(name) AS value FROM unnest(ARRAY['shared_buffers',"
            " 'max_wal_size', 'synchronous_commit', 'fsync', 'full_page_writes']) AS s (name)"
        )
    finally:
        await conn.close()
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "load_before": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "asyncpg": version("asyncpg"),
        "postgresql": server,
        "settings": {row["name"]: row["value"] for row in settings},
        "peers": _peers(),
    }
