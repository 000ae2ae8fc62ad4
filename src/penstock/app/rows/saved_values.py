"""Remember what unreadable words in the files of a source mean."""

from __future__ import annotations

from uuid import UUID

from penstock.model.errors import PermanentError
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.catalog import saved_values as store
from penstock.store.catalog.saved_values import UnreadValue
from penstock.store.database import Connection, from_json
from penstock.store.jobs.job_rows import JobDetails

# Values that may be words of the supplier; other problems are not about what a word means.
WORD_CODES = [
    "NUMBER_UNREADABLE", "PRICE_UNREADABLE", "PRICE_ON_REQUEST", "TIERS_UNREADABLE",
    "CURRENCY_UNKNOWN", "UNIT_UNKNOWN", "PACK_UNREADABLE", "MEASURE_UNREADABLE",
    "DIMENSIONS_UNREADABLE", "BOOLEAN_UNREADABLE", "AVAILABILITY_UNKNOWN", "LEAD_TIME_UNREADABLE",
    "DATE_UNREADABLE", "GTIN_UNREADABLE", "URL_UNREADABLE", "IMAGE_NOT_URL",
]  # fmt: skip
# A value is offered if so many rows have it.
OFFERED_FROM = 2
_MOST_OFFERED = 50
# As the pipeline names products of files without a source.
DEFAULT_SOURCE = "file"


async def remember(
    conn: Connection, caller: Caller, org_id: int, source: str, field: str, word: str, value: str
) -> None:
    """From the next file on, ``word`` in ``field`` is read as ``value``. Audited."""
    if await store.count_of_source(conn, org_id, source) >= store.MOST_WORDS:
        raise PermanentError(
            "INVALID_STATE", f"The source {source!r} has {store.MOST_WORDS:,} words already."
        )
    before = await store.set_value(conn, org_id, caller.who.user_id, source, field, word, value)
    await audit(
        conn, org_id, caller.who.user_id, "value.remember", f"value:{source}:{field}:{word}"[:200],
        ip=caller.ip, before=None if before is None else {"value": before},
        after={"source": source, "field": field, "word": word, "value": value},
    )  # fmt: skip


async def forget(
    conn: Connection, caller: Caller, org_id: int, source: str, field: str, word: str
) -> None:
    """Forget a word; to forget it twice is the same. Audited."""
    before = await store.delete_value(conn, org_id, source, field, word)
    await audit(
        conn, org_id, caller.who.user_id, "value.forget", f"value:{source}:{field}:{word}"[:200],
        ip=caller.ip, before=None if before is None else {"value": before},
    )  # fmt: skip


async def offered(conn: Connection, job: JobDetails) -> tuple[str, list[UnreadValue]]:
    """The source of a job, and the values that could not be read in its rows, most frequent
    first."""
    job_id: UUID = job.id
    context = from_json(job.context) or {}
    source = (context.get("profile") or {}).get("source") or DEFAULT_SOURCE
    found = await store.unread_values(conn, job_id, WORD_CODES, OFFERED_FROM, _MOST_OFFERED)
    return source, found
