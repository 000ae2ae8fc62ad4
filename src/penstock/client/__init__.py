"""Penstock for programs: `Client`, and `AsyncClient` with the same calls, awaited.

>>> with Client("http://127.0.0.1:8600", key) as penstock:
...     receipt = penstock.submit("supplier.csv", config={"intent": "merge"})
...     job = penstock.wait(receipt.job_id, check=True)
...     penstock.export(job.id, "products.xlsx", format="xlsx")
"""

from __future__ import annotations

from penstock.client.asynchronous import AsyncClient
from penstock.client.calls import Patience
from penstock.client.errors import (
    ApiError,
    Busy,
    Conflict,
    JobFailed,
    NotAllowed,
    NotSignedIn,
    NotThere,
    Unreachable,
)
from penstock.client.shapes import (
    BatchResult,
    Counters,
    Event,
    File,
    Item,
    Job,
    Progress,
    Receipt,
    Reprocessed,
)
from penstock.client.sync import Client

__all__ = [
    "ApiError",
    "AsyncClient",
    "BatchResult",
    "Busy",
    "Client",
    "Conflict",
    "Counters",
    "Event",
    "File",
    "Item",
    "Job",
    "JobFailed",
    "NotAllowed",
    "NotSignedIn",
    "NotThere",
    "Patience",
    "Progress",
    "Receipt",
    "Reprocessed",
    "Unreachable",
]
