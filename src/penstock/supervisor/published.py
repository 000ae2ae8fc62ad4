"""Where the API of a data folder listens, written beside the data for commands on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

_FILE = "api.json"


@contextmanager
def published_address(data_dir: Path, url: str) -> Iterator[None]:
    """Publish the address while this process serves. Of two, the later one is published."""
    path = data_dir / _FILE
    draft = path.with_suffix(f".{os.getpid()}")
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    began = psutil.Process().create_time()
    draft.write_text(json.dumps({"url": url, "pid": os.getpid(), "began": began}))
    draft.replace(path)
    try:
        yield
    finally:
        if _read(path).get("pid") == os.getpid():
            path.unlink(missing_ok=True)


def read_address(data_dir: Path) -> str | None:
    """None if the process that wrote it has ended: another program may have its port now."""
    document = _read(data_dir / _FILE)
    url, pid = document.get("url"), document.get("pid")
    if not isinstance(url, str) or not isinstance(pid, int):
        return None
    try:
        return url if psutil.Process(pid).create_time() == document.get("began") else None
    except psutil.Error:
        return None


def _read(path: Path) -> dict[str, object]:
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}
