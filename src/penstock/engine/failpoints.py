"""Places where tests make a process die or stop, so that recovery is tested and not hoped for.

``PENSTOCK_FAILPOINT=after_claim:kill`` ends the process with SIGKILL the first time it comes by;
``after_work:kill:3`` the third time; ``before_commit:stop`` stops it (SIGSTOP) instead;
``after_claim:raise`` raises. Several are separated by commas.
"""

from __future__ import annotations

import os
import signal

FAILPOINT = "PENSTOCK_FAILPOINT"
NAMES = frozenset(
    {
        "after_claim",
        "after_work",
        "before_commit",
        "after_commit",
        "between_batches",
        "in_finish",
        # A job's file is stored, and nothing else.
        "after_upload",
        # A job is written, and not committed.
        "before_submit",
        # A job is committed, and neither a worker nor its client knows of it yet.
        "after_submit",
        # Leases are extended, the worker's own sign of life is not written yet.
        "in_heartbeat",
        # A chunk of a bulk action over dead letters is committed.
        "between_chunks",
        # Expired leases were found and none is taken yet.
        "in_sweep",
        # A step of an operation over many jobs.
        "bulk_before_commit",
        "bulk_after_commit",
        # Some products of a job are put back.
        "undo_before_commit",
        "undo_after_commit",
        # Rows of an earlier job with the same file are copied.
        "recall_before_commit",
        "recall_after_commit",
        # Some products that a file lacks are found, and taken off the shelf if asked.
        "job_effect_before_commit",
        "job_effect_after_commit",
        # Bytes of an upload in several requests are on disk.
        "after_piece",
        # All of them are, as a blob that no row names yet.
        "after_whole",
        # Events became deliveries.
        "follow_before_commit",
        "follow_after_commit",
    }
)
ACTIONS = frozenset({"kill", "stop", "raise"})


class FailpointReached(Exception):
    """The failpoint's action was `raise`."""


class Failpoints:
    def __init__(self, spec: str = "") -> None:
        self._armed: dict[str, tuple[str, int]] = {}
        for part in filter(None, spec.split(",")):
            name, _, rest = part.strip().partition(":")
            action, _, count = rest.partition(":")
            if name not in NAMES or action not in ACTIONS:
                raise ValueError(f"{FAILPOINT}: unknown {part!r}")
            self._armed[name] = (action, int(count or 1))

    def reach(self, name: str) -> None:
        armed = self._armed.get(name)
        if armed is None:
            return
        action, count = armed
        if count > 1:
            self._armed[name] = (action, count - 1)
            return
        del self._armed[name]
        if action == "raise":
            raise FailpointReached(name)
        os.kill(os.getpid(), signal.SIGKILL if action == "kill" else signal.SIGSTOP)
