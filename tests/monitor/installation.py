"""A running installation: an API, workers and racing leaders as processes, and receivers of notices
by HTTP and SMTP."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from tests.chaos.api_process import ApiProcess
from tests.chaos.worker_pool import WorkerPool, WorkerProcess
from tests.checker.polling import until
from tests.monitor.support import Mailbox, Receiver

from penstock.store.database import Database

_LEADER = Path(__file__).with_name("racing_leader.py")


@dataclass
class Installation:
    db: Database
    worker_pool: WorkerPool
    api_process: ApiProcess
    receiver: Receiver
    box: Mailbox
    env: Mapping[str, str]
    workers: list[WorkerProcess] = field(default_factory=list)

    async def start(self, workers: int = 2, leaders: int = 2) -> None:
        await self.api_process.start(env=self.env)
        for _ in range(workers):
            self.add_worker()
        for _ in range(leaders):
            leader = self.worker_pool.start(main=_LEADER, env=self.env)
            await leader.is_up()
        # While it starts, too few workers run: no target exists yet.
        await self.healthy()
        await self.sql("DELETE FROM alerts")
        for kind, address in (("webhook", self.receiver.url), ("email", "ops@example.com")):
            target = {"kind": kind, "address": address, "installation": True,
                      "severities": ["warning", "critical"]}  # fmt: skip
            await self.ask("POST", "/api/notifications", json=target)

    def add_worker(self, **settings: Any) -> WorkerProcess:
        worker = self.worker_pool.start(env=self.env, **settings)
        self.workers.append(worker)
        return worker

    async def ask(self, method: str, path: str, **more: Any) -> Any:
        async with self.api_process.client() as client:
            answer: httpx2.Response = await client.request(method, path, **more)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def submit(self, count: int = 1, **config: Any) -> list[str]:
        order = {"pipeline": "noop", "config": {"items": 1, **config}}
        made = (self.ask("POST", "/api/jobs", json=order) for _ in range(count))
        return [one["jobId"] for one in await asyncio.gather(*made)]

    async def ended(self, jobs: list[str]) -> None:
        async def all_ended() -> bool:
            found = [await self.ask("GET", f"/api/jobs/{one}") for one in jobs]
            return all(one["finishedAt"] for one in found)

        await until(all_ended, "the jobs to end", timeout=60, pause=0.1)

    async def sql(self, statement: str, *values: Any) -> Any:
        async with self.db.transaction() as conn:
            return await conn.fetch(statement, *values)

    async def healthy(self) -> None:
        """All checks pass, and were made."""

        found: dict[str, Any] = {}

        async def is_healthy() -> bool:
            found.update(await self.ask("GET", "/api/monitor"))
            return bool(found["checks"]) and found["verdict"]["level"] == "healthy"

        try:
            await until(is_healthy, "the installation to be healthy", timeout=60, pause=0.1)
        except AssertionError as error:
            raise AssertionError(f"{error}: {found['verdict']}") from error

    async def fails(self, keys: set[str]) -> None:
        """These checks fail, as the page of the monitor shows, and notices of them arrived."""

        async def failing() -> bool:
            found = await self.ask("GET", "/api/monitor")
            shown = {_key(one) for one in found["checks"] if not one["ok"]}
            bad = found["verdict"]["level"] in ("degraded", "unhealthy")
            return bad and keys <= shown

        await until(failing, f"{keys} to fail", timeout=60, pause=0.1)
        await self.told(keys, "opened")

    async def told(self, keys: set[str], phase: str) -> None:
        async def arrived() -> bool:
            posted = {key for key, one in self.posted() if one == phase}
            mailed = {key for key, one in self.mailed() if one == phase}
            return keys <= posted and keys <= mailed

        await until(arrived, f"notices that {keys} {phase}", timeout=60, pause=0.1)

    def posted(self) -> Iterator[tuple[str, str]]:
        for one in self.receiver.got:
            for notice in json.loads(one.body)["notifications"]:
                if notice["phase"] in ("opened", "resolved"):
                    yield notice["key"], notice["phase"]

    def mailed(self) -> Iterator[tuple[str, str]]:
        for mail in self.box.mails:
            for line in str(mail.get_payload()).splitlines():
                kind, _, name = line.partition(": ")
                if kind in ("Warning", "Critical", "Resolved") and " " not in line[:8]:
                    phase = "resolved" if kind == "Resolved" else "opened"
                    yield _named(name), phase

    async def quiet(self) -> None:
        """Every notice that was decided on was sent, and none waits."""

        async def all_sent() -> bool:
            [row] = await self.sql("SELECT count(*) AS n FROM notifications WHERE state <> 'sent'")
            return bool(row["n"] == 0)

        await until(all_sent, "all notices to be sent", timeout=60, pause=0.1)

    async def decided(self) -> Counter[tuple[str, str]]:
        """Alerts and their ends as the database has them."""
        rows = await self.sql("SELECT key, resolved_at FROM alerts")
        found = Counter((row["key"], "opened") for row in rows)
        found.update((row["key"], "resolved") for row in rows if row["resolved_at"])
        return found


def _key(check: Mapping[str, Any]) -> str:
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in check["name"])
    return f"{name}:{check['scope']}" if check["scope"] else name


def _named(words: str) -> str:
    name, _, scope = words.strip().partition(" (")
    name = name.replace(" ", "_")
    return f"{name}:{scope.rstrip(')')}" if scope else name
