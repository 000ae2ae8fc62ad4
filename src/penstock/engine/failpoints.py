"""Places in the code where tests make a process die or stop, to test its recovery.

``PENSTOCK_FAILPOINT=after_claim:kill`` kills the process (SIGKILL) the first time it gets there;
``after_work:kill:3`` the third time; ``before_commit:stop`` stops it (SIGSTOP) instead;
``after_claim:raise`` raises. Several are separated by commas. Only with PENSTOCK_TEST_PIPELINES.
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
        # A range of rows went through the first stage; it is stored but not committed; committed.
        "range_prepared",
        "range_before_commit",
        "range_after_commit",
        "in_finish",
        # The file of a job is stored; nothing else is.
        "after_upload",
        # A job is written but not committed.
        "before_submit",
        # A job is committed; the client has no answer yet.
        "after_submit",
        # Leases are extended; the worker's own heartbeat is not written yet.
        "in_heartbeat",
        # A chunk of a bulk action over dead letters is committed.
        "between_chunks",
        # Expired leases were found; none is taken yet.
        "in_sweep",
        # The monitor has opened or resolved alerts; their notices become items.
        "monitor_before_commit",
        "monitor_after_commit",
        "notify_before_commit",
        # A step of a bulk operation.
        "bulk_before_commit",
        "bulk_after_commit",
        # Some products of a job are restored by an undo.
        "undo_before_commit",
        "undo_after_commit",
        # Rows of an earlier job with the same file are copied.
        "cached_results_before_commit",
        "cached_results_after_commit",
        # A chunk of a job effect is written.
        "job_effect_before_commit",
        "job_effect_after_commit",
        # Bytes of a resumable upload are on disk.
        "after_piece",
        # The upload is complete, as a blob without a reference.
        "after_whole",
        # A follower handled a range of events.
        "follow_before_commit",
        "follow_after_commit",
        # A watched file is claimed; its job is written; committed, and the file still there.
        "watch_after_claim",
        "watch_before_commit",
        "watch_after_submit",
        # Due times became runs; the job of a run is written; committed.
        "schedule_before_commit",
        "schedule_run_before_commit",
        "schedule_run_after_commit",
        # A chunk of old rows is deleted.
        "prune_before_commit",
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
