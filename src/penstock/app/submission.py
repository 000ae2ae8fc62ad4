"""Submit a job, with the file that came with the request."""

from __future__ import annotations

from penstock.app.uploads import Upload, keep_upload
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Order, Receipt, submit
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection, Transaction


async def submit_job(
    runtime: Runtime, transaction: Transaction, caller: Caller, order: Order, upload: Upload | None
) -> Receipt:
    """The caller wakes `Receipt.lane`, unless the job was submitted before (`Receipt.replayed`)."""
    async with transaction() as conn:
        if upload is None:
            return await _submit(runtime, conn, caller, order)
        # The job refers to the file, so the file's row is written first. A replay removes it again.
        attempt = conn.transaction()
        await attempt.start()
        await keep_upload(runtime, conn, caller.who, upload, caller.ip)
        receipt = await _submit(runtime, conn, caller, order)
        await (attempt.rollback() if receipt.replayed else attempt.commit())
        return receipt


async def _submit(runtime: Runtime, conn: Connection, caller: Caller, order: Order) -> Receipt:
    receipt = await submit(runtime, conn, caller.who, order)
    if not receipt.replayed:
        await audit(
            conn, caller.who.org_id, caller.who.user_id, "job.create", f"job:{receipt.job_id}",
            ip=caller.ip,
            after={"pipeline": order.pipeline, "name": order.name, "fileId": order.file_id},
        )  # fmt: skip
    runtime.failpoints.reach("before_submit")
    return receipt
