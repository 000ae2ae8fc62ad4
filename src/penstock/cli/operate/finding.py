"""One finding of `penstock doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """``todo`` says what to do about it."""

    name: str
    status: Literal["ok", "warn", "fail"]
    message: str
    todo: str = ""


def ok(name: str, message: str) -> Check:
    return Check(name, "ok", message)


def warn(name: str, message: str, todo: str = "") -> Check:
    return Check(name, "warn", message, todo)


def fail(name: str, message: str, todo: str = "") -> Check:
    return Check(name, "fail", message, todo)
