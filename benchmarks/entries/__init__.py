"""Every benchmark there is. A new one is one file here and one line below."""

from __future__ import annotations

from benchmarks.entries import (
    claim_latency,
    dispatch_latency,
    ingest,
    memory,
    noop,
    one_job_8_workers,
    tiny_jobs,
)
from benchmarks.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    ingest.ENTRY,
    noop.ENTRY,
    one_job_8_workers.ENTRY,
    tiny_jobs.ENTRY,
    dispatch_latency.ENTRY,
    claim_latency.ENTRY,
    memory.ENTRY,
)
