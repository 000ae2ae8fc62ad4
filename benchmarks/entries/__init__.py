"""Every benchmark there is. A new one is one file here and one line below."""

from __future__ import annotations

from benchmarks.entries import (
    api,
    dispatch_latency,
    extraction,
    extraction_million,
    extraction_scaling,
    growth,
    ingest,
    light_beside_heavy,
    load,
    lookup,
    memory,
    million,
    noop,
    normalising,
    one_job_8_workers,
    peers,
    research,
    shops,
    tiny_jobs,
    web_pages,
)
from benchmarks.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    peers.ENTRY,
    noop.ENTRY,
    tiny_jobs.ENTRY,
    dispatch_latency.ENTRY,
    ingest.ENTRY,
    extraction.ENTRY,
    extraction_scaling.ENTRY,
    extraction_million.ENTRY,
    growth.ENTRY,
    million.ENTRY,
    load.ENTRY,
    api.ENTRY,
    light_beside_heavy.ENTRY,
    one_job_8_workers.ENTRY,
    memory.ENTRY,
    normalising.ENTRY,
    shops.ENTRY,
    web_pages.ENTRY,
    research.ENTRY,
    lookup.ENTRY,
)
