"""Invariant 15: each event ends in a 2xx answer or a dead letter, every attempt has the same id,
and nothing is delivered that did not happen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
from tests.checker.case import SHOWN

from penstock.store.database import Connection

_WANTED = """
SELECT e.id, e.event, e.job_id, e.seq FROM events e JOIN jobs j ON j.id = e.job_id
JOIN webhook_endpoints w ON w.id = $1 AND w.org_id = e.org_id AND e.xid >= w.since
WHERE e.event = ANY (w.events) AND j.pipeline <> 'webhooks'
"""
_MADE = """
SELECT d.id, d.event_id, d.event, d.about_job, d.state, d.stream_job, d.row_no, i.status,
       EXISTS (SELECT 1 FROM events e WHERE e.id = d.event_id) AS happened,
       (SELECT count(*) FROM dead_letters l
        WHERE l.job_id = d.stream_job AND l.row_no = d.row_no AND l.state = 'open') AS letters
FROM webhook_deliveries d LEFT JOIN job_items i ON i.job_id = d.stream_job AND i.row_no = d.row_no
WHERE d.endpoint_id = $1
"""
_ENDS = {"delivered": ("DONE", 0), "failed": ("ERROR", 1)}


async def delivery_violations(conn: Connection, endpoint_id: UUID, got: Sequence[Any]) -> list[str]:
    """The violations once everything is sent. ``got``: every request that the receiver got, with
    its answer in ``answered``."""
    wanted = {row["id"]: row for row in await conn.fetch(_WANTED, endpoint_id)}
    made = await conn.fetch(_MADE, endpoint_id)
    wrong = []
    for event_id, times in Counter(row["event_id"] for row in made).items():
        if times > 1:
            wrong.append(f"event {event_id} became {times} deliveries")
        if event_id not in wanted:
            wrong.append(f"a delivery of event {event_id}, to which no endpoint subscribes")
    lost = set(wanted) - {row["event_id"] for row in made}
    wrong += [f"event {wanted[one]['event']} ({one}) became no delivery" for one in sorted(lost)]
    answers = defaultdict(list)
    for one in got:
        answers[one.id].append(one)
    for row in made:
        wrong += _of_delivery(row, answers.get(f"msg_{row['id'].hex}", []))
    return [*wrong, *_of_ids(got)][:SHOWN]


def _of_delivery(row: Any, sent: Sequence[Any]) -> list[str]:
    name = f"delivery {row['event']} ({row['event_id']})"
    if not row["happened"]:
        return [f"{name} delivers an event that did not happen"]
    if row["state"] not in _ENDS:
        return [f"{name} is {row['state']}"]
    status, letters = _ENDS[row["state"]]
    wrong = []
    if (row["status"], row["letters"]) != (status, letters):
        wrong.append(f"{name} is {row['state']}, {row['status']}, with {row['letters']} letters")
    accepted = any(one.answered.startswith("2") for one in sent)
    if accepted != (row["state"] == "delivered"):
        wrong.append(f"{name} is {row['state']}, but the receiver answered otherwise")
    return wrong


def _of_ids(got: Sequence[Any]) -> list[str]:
    """One message has one id, and one id one message."""
    bodies, ids = defaultdict(set), defaultdict(set)
    for one in got:
        told = orjson.loads(one.body)
        bodies[one.id].add(one.body)
        ids[told["jobId"], told["seq"]].add(one.id)
    wrong = [
        f"{message} came as {len(found)} ids" for message, found in ids.items() if len(found) > 1
    ]
    return wrong + [
        f"{one} stands for {len(b)} messages" for one, b in bodies.items() if len(b) > 1
    ]
