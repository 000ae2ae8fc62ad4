"""What the peers need, made once: an environment of their own, and Debian's Redis."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_HERE = Path(__file__).parent
FOLDER = _HERE.parent.parent / ".venv-peers"
PYTHON = FOLDER / "bin" / "python"
_PINNED = _HERE / "requirements.txt"
_WANTED = _HERE / "requirements.in"
_MADE = FOLDER / "made.json"
_VERSION = re.compile(r"^[\w.-]+==[\w.]+", re.MULTILINE)


def ensure_environment() -> dict[str, str]:
    """Why a package is not there, by its name; empty if all are."""
    pinned = hashlib.sha256(_PINNED.read_bytes()).hexdigest()
    if _MADE.exists():
        made = json.loads(_MADE.read_text("utf-8"))
        if made["pinned"] == pinned and not made["missing"]:
            return {}
    print("Installing the peers (once, about a minute) …", flush=True)
    failed = _run([sys.executable, "-m", "venv", "--clear", str(FOLDER)])
    if failed:
        return dict.fromkeys(_packages(), failed)
    missing = {}
    # The list is complete. With dependencies pip would ask for the newest version of a package that
    # another one names with extras, and then refuse it, because it is not in the list.
    if _pip("--no-deps", "--require-hashes", "-r", str(_PINNED)):
        # One of them spoils it for all: take each as it comes. Constraints cannot have hashes.
        versions = FOLDER / "versions.txt"
        versions.write_text("\n".join(_VERSION.findall(_PINNED.read_text("utf-8"))), "utf-8")
        for line in _WANTED.read_text("utf-8").split():
            failed = _pip("-c", str(versions), line)
            if failed:
                missing[_name(line)] = failed
    made = {"pinned": pinned, "missing": missing}
    _MADE.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    return missing


def ensure_redis() -> str:
    """Why there is no Redis; empty if there is one."""
    if shutil.which("redis-server"):
        return ""
    if os.geteuid() != 0:
        return "there is no redis-server, and only root can install one"
    if not shutil.which("apt-get"):
        return "there is no redis-server, and no apt-get to install it with"
    print("Installing Debian's redis-server …", flush=True)
    # Without a runlevel for services the package starts none: ours is a private one.
    env = {**os.environ, "RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}
    failed = _run(["apt-get", "install", "-y", "-qq", "redis-server"], env)
    return f"redis-server could not be installed: {failed}" if failed else ""


def _packages() -> list[str]:
    return [_name(line) for line in _WANTED.read_text("utf-8").split()]


def _name(line: str) -> str:
    return re.split(r"[\[<=>]", line)[0]


def _pip(*arguments: str) -> str:
    quiet = ("--disable-pip-version-check", "-q", "install")
    return _run([str(PYTHON), "-m", "pip", *quiet, *arguments])


def _run(command: Sequence[str], env: dict[str, str] | None = None) -> str:
    """What went wrong, in its last words."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return ""
    said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    errors = [line for line in said if line.upper().startswith(("ERROR", "E:"))]
    return " ".join((errors or said or [f"exit code {done.returncode}"])[-2:])[:300]
