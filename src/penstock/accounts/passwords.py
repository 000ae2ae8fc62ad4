"""Passwords: argon2id, in threads of their own, since each takes a tenth of a second and 64 MiB."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import secrets
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from penstock.model.cpu.meter import charge_outside, timed
from penstock.model.errors import BadInput, RateLimited
from penstock.model.text.emails import fold_email

SHORTEST, LONGEST = 12, 256
T = TypeVar("T")
_AT_ONCE = 2
_NICE = 10
# A request behind so many others would wait for seconds, so it is refused.
_MOST_WAITING = 40
_hasher = PasswordHasher()


def _yield_processor() -> None:
    """A hash is worth a tenth of a second of waiting; requests of others come first. Linux knows
    priorities of threads; elsewhere this would slow down the whole process."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


_threads = ThreadPoolExecutor(_AT_ONCE, "argon2", initializer=_yield_processor)
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"


def _unmatched_hash() -> str:
    """A hash that no password matches, and that takes as long to compare as any other."""

    def plain(raw: bytes) -> str:
        return base64.b64encode(raw).rstrip(b"=").decode()

    cost = f"m={_hasher.memory_cost},t={_hasher.time_cost},p={_hasher.parallelism}"
    salt, key = bytes(_hasher.salt_len), bytes(_hasher.hash_len)
    return f"$argon2id$v=19${cost}${plain(salt)}${plain(key)}"


_UNMATCHED = _unmatched_hash()


def generate_password() -> str:
    """Easy to copy from a screen: 20 characters that look like no other, 99 bits."""
    groups = ["".join(secrets.choice(_ALPHABET) for _ in range(5)) for _ in range(4)]
    return "-".join(groups)


def require_good(password: str, email: str) -> None:
    """Length is what counts; rules about kinds of characters make passwords worse."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise BadInput(
            "WEAK_PASSWORD", f"A password has {SHORTEST} to {LONGEST} characters.",
            shortest=SHORTEST, longest=LONGEST,
        )  # fmt: skip
    name, _, _ = fold_email(email).partition("@")
    if fold_email(password) in (fold_email(email), name) or len(set(password)) < 5:
        raise BadInput("WEAK_PASSWORD", "That password is too easy to guess. Take another one.")


async def hash_password(password: str) -> str:
    return await _apart(lambda: _hasher.hash(password))


async def matches(password: str, known: str | None) -> bool:
    """Takes the same time whether or not there is anything to compare with."""

    def compare() -> bool:
        try:
            return _hasher.verify(known or _UNMATCHED, password) and known is not None
        except (VerificationError, InvalidHashError):
            return False

    return await _apart(compare)


def is_outdated(known: str) -> bool:
    """Whether it was made with less than what is usual by now."""
    return _hasher.check_needs_rehash(known)


async def _apart(work: Callable[[], T]) -> T:
    if _Waiting.now >= _MOST_WAITING:
        raise RateLimited(
            "RATE_LIMITED", "Too many people sign in at once. Try again soon.", retry_after_ms=3000
        )
    _Waiting.now += 1
    try:
        loop = asyncio.get_running_loop()
        result, seconds = await loop.run_in_executor(_threads, timed, work)
        charge_outside(seconds)
        return result
    finally:
        _Waiting.now -= 1


class _Waiting:
    now = 0
