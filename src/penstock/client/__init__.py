"""Penstock for programs: `Client`, and `AsyncClient` with the same calls, awaited.

>>> with Client("http://127.0.0.1:8600", key) as penstock:
...     receipt = penstock.submit("supplier.csv", config={"intent": "merge"})
...     job = penstock.wait(receipt.job_id, check=True)
...     penstock.export(job.id, "products.xlsx", format="xlsx")
"""

from __future__ import annotations

from .asynchronous import AsyncClient
from .calls import Patience
from .errors import (
    ApiError,
    Busy,
    Conflict,
    JobFailed,
    NotAllowed,
    NotSignedIn,
    NotThere,
    Unreachable,
)
from .resources import Resource
from .shapes import (
    BatchResult,
    Counters,
    Event,
    File,
    Item,
    Job,
    Preview,
    PreviewRow,
    Progress,
    Receipt,
    Refusal,
    Reprocessed,
    Undone,
)
from .sync import Client

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
    "Preview",
    "PreviewRow",
    "Progress",
    "Receipt",
    "Refusal",
    "Reprocessed",
    "Resource",
    "Undone",
    "Unreachable",
]
