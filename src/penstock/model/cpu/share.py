"""How much processor time each account may use while others need the same server.

An account is an org, or the network of callers that are not signed in. The result is one level for
all of them, as in max-min fairness: an account below the level is not limited, and what it leaves
unused is divided among those above.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import TypeVar

A = TypeVar("A", bound=Hashable)
# Processors' time per second that all accounts together may use while one of them uses less than
# its share: the rest keeps the wait for the processor short.
PROTECTED = 0.4
# The same while every account asks for more than its share: then no account needs short waits.
SATURATED = 0.9


def fair_level(used: Mapping[A, float], waiting: Collection[A]) -> float:
    """The processor seconds per second that any one account may use. ``used``: what each active
    account used recently; ``waiting``: accounts with requests that wait for processor time."""
    capacity = SATURATED if used and all(one in waiting for one in used) else PROTECTED
    # The heaviest account is taken to want all it can get, so that the level stays the same when
    # the limit takes effect and the account's use drops to it.
    lighter = sorted(used.values())[:-1]
    left = capacity
    for position, rate in enumerate(lighter):
        level = left / (len(used) - position)
        if rate >= level:
            return level
        left -= rate
    return left
