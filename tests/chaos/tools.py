"""Tools of the machine that some faults need. `make test-long` installs them where it may."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

HINT = "`make test-long` as root installs it where apt-get is there"


def _faketime() -> Path | None:
    found = [*Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"),
             *Path("/usr/lib/faketime").glob("libfaketimeMT.so.1")]  # fmt: skip
    return found[0] if found else None


FAKETIME = _faketime()
needs_faketime = pytest.mark.skipif(FAKETIME is None, reason=f"libfaketime is missing: {HINT}")
needs_strace = pytest.mark.skipif(
    shutil.which("strace") is None or os.geteuid() != 0,
    reason=f"strace is missing, or this is not root: {HINT}",
)
needs_namespaces = pytest.mark.skipif(
    shutil.which("ip") is None or os.geteuid() != 0,
    reason=f"iproute2 is missing, or this is not root: {HINT}",
)
