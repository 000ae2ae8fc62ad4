"""Choose the product of a row among the candidates that its lookup found."""

from __future__ import annotations

from uuid import UUID

from penstock.app import bulk
from penstock.app.job_control import get_job
from penstock.engine.runtime import Runtime
from penstock.model.errors import BadInput, NotThere, PermanentError
from penstock.model.lookup import CHOSEN, NONE_OF_THEM
from penstock.model.reprocess import Selection
from penstock.model.states import TERMINAL_ITEM_STATUSES
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection
from penstock.store.jobs import claims, reprocess

_ENDED = tuple(sorted(TERMINAL_ITEM_STATUSES))


async def choose_candidate(
    runtime: Runtime, conn: Connection, caller: Caller, job_id: UUID, row_no: int, key: str | None
) -> bulk.Reprocessed:
    """Take the candidate with this key as the row's product; None: it is none of them. The row runs
    again, without searching."""
    await claims.lock_claims(conn)
    job = await get_job(conn, job_id)
    found = await reprocess.lock_document(conn, job_id, row_no)
    if found is None:
        raise NotThere("NOT_FOUND", f"The job has no row {row_no}.")
    status, document = found
    if status not in TERMINAL_ITEM_STATUSES:
        raise PermanentError(
            "INVALID_STATE", f"Row {row_no} is being looked up. Choose when it has ended.",
            state=status,
        )  # fmt: skip
    known = [one["key"] for one in document.get("candidates", ())]
    if not known:
        raise PermanentError("INVALID_STATE", f"Row {row_no} has no candidates to choose from.")
    if key is not None and key not in known:
        raise BadInput(
            "INVALID_PARAMETERS", f"Row {row_no} has no candidate {key!r}.", candidates=known
        )
    await reprocess.add_to_documents(conn, job_id, [row_no], {CHOSEN: key or NONE_OF_THEM})
    await audit(
        conn, job.org_id, caller.who.user_id, "item.choose", f"job:{job_id}:{row_no}",
        ip=caller.ip, before={"chosen": document.get(CHOSEN)}, after={"chosen": key},
    )  # fmt: skip
    again = Selection(whole_job=False, statuses=_ENDED, rows=(row_no,))
    return await bulk.reprocess_job(runtime, conn, caller.who, job_id, again, caller.ip)
