"""What a campaign does, all of it decided by its seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from penstock.engine.failpoints import NAMES

# Where a worker at its work comes by; the others are reached by few, and have tests of their own.
PLACES = sorted(NAMES & {"after_claim", "after_work", "before_commit", "after_commit",
                         "between_batches", "in_finish", "in_heartbeat"})  # fmt: skip


class Fault(StrEnum):
    KILL = "worker killed at a random moment"
    KILL_AT = "worker killed at a failpoint"
    ZOMBIE = "worker stopped beyond its lease, then woken"
    ZOMBIE_AT = "worker stopped at a failpoint beyond its lease, then woken"
    SERVER = "PostgreSQL killed"
    BACKEND = "one backend of PostgreSQL killed"
    CUT_WORKER = "all connections of a worker cut"
    CUT_ONE = "one connection cut"
    CUT_ALL = "all connections of all workers cut"


@dataclass(frozen=True)
class Plan:
    """So many faults within so many seconds, while orgs submit and change their minds."""

    seed: int = 1
    kills: int = 220
    zombies: int = 60
    server_kills: int = 24
    cuts: int = 80
    # Faults are spread over this; the run takes a few minutes longer.
    seconds: float = 720
    workers: int = 3
    orgs: int = 5
    live_jobs: int = 8
    # Kills under the leases of a real installation, one at a time.
    patient_kills: int = 12
    # Faults stop: everything must have ended after this.
    drain_seconds: float = 120
    # Whether a worker that lives through it all is compared with what it was before.
    footprint: bool = True

    def scaled(self, share: float) -> Plan:
        """The same in small."""

        def some(number: int) -> int:
            return max(1, round(number * share))

        return Plan(
            self.seed, some(self.kills), some(self.zombies), some(self.server_kills),
            some(self.cuts), self.seconds * share, self.workers, self.orgs, self.live_jobs,
            round(self.patient_kills * share), self.drain_seconds, self.footprint,
        )  # fmt: skip

    def faults(self) -> Sequence[tuple[float, Fault]]:
        """When to do what, in order; those of PostgreSQL are spread evenly."""
        chance = random.Random(f"faults {self.seed}")
        at_place = self.kills * 2 // 5, self.zombies // 3
        common = [Fault.KILL] * (self.kills - at_place[0]) + [Fault.KILL_AT] * at_place[0]
        common += [Fault.ZOMBIE] * (self.zombies - at_place[1]) + [Fault.ZOMBIE_AT] * at_place[1]
        common += [
            (Fault.CUT_WORKER, Fault.CUT_ONE, Fault.CUT_ALL)[n % 3] for n in range(self.cuts)
        ]
        chance.shuffle(common)
        step = self.seconds / max(len(common), 1)
        planned = [(step * n + chance.random() * step, fault) for n, fault in enumerate(common)]
        for n in range(self.server_kills):
            kind = Fault.BACKEND if n % 4 == 3 else Fault.SERVER
            planned.append((self.seconds * (n + 0.5) / self.server_kills, kind))
        return sorted(planned)
