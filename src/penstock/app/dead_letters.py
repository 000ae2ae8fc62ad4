"""Reprocess dead letters as new jobs, or discard them with a reason.

A letter and its new job are changed in one transaction that locks the letter, so that no letter is
reprocessed twice, even by simultaneous requests or after a crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson

from penstock.app.clone import Copy, order_of, owner_of
from penstock.engine.reprocess import begin
from penstock.engine.runtime import Runtime
from penstock.engine.submit import Receipt, submit
from penstock.model.errors import NotThere, PenstockError, PermanentError, TransientError
from penstock.model.fairness import PRIORITIES
from penstock.model.ids import new_id
from penstock.model.network.notifications import PIPELINE as NOTIFICATIONS
from penstock.model.reprocess import Selection
from penstock.model.states import TERMINAL_ITEM_STATUSES
from penstock.model.ticket import Ticket
from penstock.store import webhooks
from penstock.store.accounts.audit_log import Caller, audit
from penstock.store.database import Connection, Transaction
from penstock.store.jobs import dead_letters
from penstock.store.jobs.dead_letters import LetterCursor, LetterDetails, Matching, PickedLetter
from penstock.webhooks.endpoints import send_again

_CHUNK = 100
# Letters that one call of a bulk action looks at; the client calls again for more.
MOST_PER_CALL = 1000
# A dry run counts no further.
MOST_COUNTED = 10_000
_PRIORITY = PRIORITIES["high"]


@dataclass(slots=True)
class Done:
    """What a bulk action did. ``place``: where it stopped, if there may be more."""

    letters: int = 0
    jobs: list[UUID] = field(default_factory=list)
    refused: list[tuple[UUID, PenstockError]] = field(default_factory=list)
    more: bool = False
    place: LetterCursor | None = None

    @property
    def looked_at(self) -> int:
        return self.letters + len(self.refused)


def no_such_letter() -> NotThere:
    """The same for an id that is unknown, of another user, or no id at all."""
    return NotThere("NOT_FOUND", "There is no such dead letter.")


async def reprocess(runtime: Runtime, conn: Connection, caller: Caller, letter_id: UUID) -> Receipt:
    """Run the letter's job again, in the caller's transaction; wake `Receipt.lane` after it."""
    letter = await _open_letter(conn, letter_id)
    receipt = await _submit_again(runtime, conn, caller, letter)
    await dead_letters.close_reprocessed(conn, [(letter_id, receipt.job_id)], caller.who.user_id)
    return receipt


async def discard(conn: Connection, caller: Caller, letter_id: UUID, reason: str) -> None:
    letter = await _open_letter(conn, letter_id)
    await _discard(conn, caller, [letter], reason)


async def reprocess_all(
    runtime: Runtime,
    transaction: Transaction,
    caller: Caller,
    which: Matching,
    after: LetterCursor | None,
) -> Done:
    """Reprocess all open letters that match, oldest first, in chunks of one transaction each. A
    letter that is refused stays open and does not stop the others."""
    done = Done(place=after)
    while True:
        async with transaction() as conn:
            picked = await _pick(conn, which, done)
            lanes = await _reprocess_chunk(runtime, conn, caller, picked, done)
        for lane in lanes:
            await runtime.broker.send(Ticket(lane))
        if not done.more:
            break
        runtime.failpoints.reach("between_chunks")
        if done.looked_at >= MOST_PER_CALL:
            break
    if done.refused and not done.jobs and isinstance(done.refused[-1][1], TransientError):
        # Nothing is accepted at the moment: the caller must see that error.
        raise done.refused[-1][1]
    return done


async def _reprocess_chunk(
    runtime: Runtime, conn: Connection, caller: Caller, picked: list[PickedLetter], done: Done
) -> set[str]:
    made, lanes = [], set()
    for row in picked:
        try:
            # What a refused letter wrote is rolled back, and the chunk continues.
            async with conn.transaction():
                letter = await dead_letters.get_letter(conn, row.id)
                assert letter is not None
                receipt = await _submit_again(runtime, conn, caller, letter)
        except PenstockError as error:
            done.refused.append((row.id, error))
        else:
            made.append((row.id, receipt.job_id))
            lanes.add(receipt.lane)
        done.place = (row.last_failed_at, row.id)
    if made:
        await dead_letters.close_reprocessed(conn, made, caller.who.user_id)
    done.jobs += [job_id for _, job_id in made]
    done.letters += len(made)
    return lanes


async def discard_all(
    runtime: Runtime, transaction: Transaction, caller: Caller, which: Matching,
    after: LetterCursor | None, reason: str,
) -> Done:  # fmt: skip
    done = Done(place=after)
    while True:
        async with transaction() as conn:
            picked = await _pick(conn, which, done)
            if picked:
                await _discard(conn, caller, picked, reason)
                done.place = (picked[-1].last_failed_at, picked[-1].id)
        done.letters += len(picked)
        if not done.more:
            return done
        runtime.failpoints.reach("between_chunks")
        if done.looked_at >= MOST_PER_CALL:
            return done


async def count(conn: Connection, which: Matching) -> Done:
    """Count what a bulk action would find, and change nothing."""
    found = await dead_letters.count_open(conn, which, MOST_COUNTED + 1)
    return Done(min(found, MOST_COUNTED), more=found > MOST_COUNTED)


async def _open_letter(conn: Connection, letter_id: UUID) -> LetterDetails:
    letter = await dead_letters.hold_letter(conn, letter_id)
    if letter is None:
        raise no_such_letter()
    if letter.state != "open":
        known: dict[str, Any] = {"state": letter.state}
        if letter.new_job_id is not None:
            known["newJobId"] = str(letter.new_job_id)
        raise PermanentError(
            "INVALID_STATE", f"This dead letter has been {letter.state} already.", **known
        )
    return letter


async def _pick(conn: Connection, which: Matching, done: Done) -> list[PickedLetter]:
    """Lock the next letters. One more than needed is read, to see whether there are more."""
    size = min(_CHUNK, MOST_PER_CALL - done.looked_at)
    picked = await dead_letters.pick_open(conn, which, done.place, size + 1)
    done.more = len(picked) > size
    return picked[:size]


async def _submit_again(
    runtime: Runtime, conn: Connection, caller: Caller, letter: LetterDetails
) -> Receipt:
    """The new job belongs to the user of the failed one, even if an admin reprocesses it. A
    delivery is sent again with the same id, so that its receiver recognises it."""
    if letter.row_no is not None:
        return await _send_again(runtime, conn, caller, letter)
    copy = Copy(priority=_PRIORITY, ip=caller.ip)
    order = order_of(letter, copy, f"dead-letter:{letter.id}")
    receipt = await submit(runtime, conn, owner_of(letter), order)
    await _audit(
        conn, caller, letter, "reprocess",
        {"state": "reprocessed", "newJobId": str(receipt.job_id), "priority": _PRIORITY},
    )  # fmt: skip
    return receipt


async def _send_again(
    runtime: Runtime, conn: Connection, caller: Caller, letter: LetterDetails
) -> Receipt:
    job_id, row_no = letter.job_id, letter.row_no
    assert row_no is not None
    if letter.pipeline == NOTIFICATIONS:
        return await _notify_again(runtime, conn, caller, letter, row_no)
    delivery_id = await webhooks.delivery_of_item(conn, job_id, row_no)
    delivery = None if delivery_id is None else await webhooks.get_delivery(conn, delivery_id)
    if delivery is None:
        raise PermanentError("INVALID_STATE", "The delivery is no longer in the log.")
    lane = await send_again(runtime, conn, delivery, caller.who.user_id)
    await _audit(
        conn, caller, letter, "reprocess", {"state": "reprocessed", "deliveryId": str(delivery_id)}
    )
    body = orjson.dumps({"jobId": str(job_id), "position": 1, "estimatedWaitMs": 0}).decode()
    return Receipt(job_id, body, lane)


async def _notify_again(
    runtime: Runtime, conn: Connection, caller: Caller, letter: LetterDetails, row_no: int
) -> Receipt:
    """Send a notification again, with all its tries."""
    job_id, statuses = letter.job_id, tuple(TERMINAL_ITEM_STATUSES)
    which = Selection(whole_job=False, statuses=statuses, rows=(row_no,))
    reopened = await begin(
        runtime, conn, job_id, which, holder=new_id(), user_id=caller.who.user_id
    )
    if reopened.lane is None:
        raise PermanentError("INVALID_STATE", "This notification is still on its way.")
    await _audit(conn, caller, letter, "reprocess", {"state": "reprocessed"})
    body = orjson.dumps({"jobId": str(job_id), "position": 1, "estimatedWaitMs": 0}).decode()
    return Receipt(job_id, body, reopened.lane)


async def _discard(
    conn: Connection, caller: Caller, letters: Sequence[PickedLetter | LetterDetails], reason: str
) -> None:
    ids = [letter.id for letter in letters]
    await dead_letters.close_discarded(conn, ids, reason, caller.who.user_id)
    for letter in letters:
        await _audit(conn, caller, letter, "discard", {"state": "discarded", "reason": reason})


async def _audit(
    conn: Connection,
    caller: Caller,
    letter: PickedLetter | LetterDetails,
    verb: str,
    after: dict[str, Any],
) -> None:
    await audit(
        conn, letter.org_id, caller.who.user_id, f"dead_letter.{verb}",
        f"dead-letter:{letter.id}", ip=caller.ip, before={"state": "open"}, after=after,
    )  # fmt: skip
