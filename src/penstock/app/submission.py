"""Submit jobs, each with the file that came with its request, audited."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from penstock.app.uploads import Upload, keep_upload
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, Receipt, submit
from penstock.engine.submit_queue import Channel, Submit, SubmitQueue
from penstock.model.ticket import Ticket
from penstock.store.accounts.audit_log import AuditEntry, Caller, audit_all
from penstock.store.database import Connection, Database, Transaction


class Submissions:
    """Submits of one API process. Those of one caller that arrive at the same time share a
    transaction."""

    def __init__(self, runtime: Runtime, db: Database) -> None:
        self._runtime = runtime
        self._db = db
        self._queue = SubmitQueue(runtime)

    async def submit(self, caller: Caller, order: Order, upload: Upload | None) -> Receipt:
        """Answers after the commit, and wakes workers."""
        scope = caller.who.scope

        if upload is None:
            channel = Channel(scope, partial(self._db.scoped_flat, scope), _audit)
            return await self._queue.submit(channel, caller.who, order)
        transaction = partial(self._db.scoped, scope)
        receipt = await _submit_own(self._runtime, transaction, caller, order, upload)
        if not receipt.replayed:
            await self._runtime.broker.send(Ticket(receipt.lane))
        return receipt


async def _submit_own(
    runtime: Runtime, transaction: Transaction, caller: Caller, order: Order, upload: Upload
) -> Receipt:
    async with transaction() as conn:
        # The job refers to the file, so the file's row is written first. A replay removes it again.
        attempt = conn.transaction()
        await attempt.start()
        receipt = await submit_upload(runtime, conn, caller, order, upload)
        runtime.failpoints.reach("before_submit")
        await (attempt.rollback() if receipt.replayed else attempt.commit())
        return receipt


async def submit_upload(
    runtime: Runtime, conn: Connection, caller: Caller, order: Order, upload: Upload
) -> Receipt:
    """Write the file and its job in the caller's transaction; wake `Receipt.lane` after it."""
    await keep_upload(runtime, conn, caller.who, upload, caller.ip)
    receipt = await submit(runtime, conn, caller.who, order)
    if not receipt.replayed:
        await audit_all(conn, [_entry(caller, order, receipt)])
    return receipt


async def _audit(conn: Connection, new: Sequence[tuple[Submit, Receipt]]) -> None:
    await audit_all(
        conn, [_entry(Caller(one.who, one.order.ip), one.order, receipt) for one, receipt in new]
    )


def _entry(caller: Caller, order: Order, receipt: Receipt) -> AuditEntry:
    return AuditEntry(
        caller.who.org_id, caller.who.user_id, "job.create", f"job:{receipt.job_id}",
        ip=caller.ip,
        after={"pipeline": order.pipeline, "name": order.name, "fileId": order.file_id},
    )  # fmt: skip
