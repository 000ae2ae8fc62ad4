"""Penstock as people meet it: API and worker as real processes, users with passwords."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from tests.ports import free_port
from tests.warm import WarmProcess, start_process

from penstock.accounts.passwords import hash_password
from penstock.guards.sealing import new_key
from penstock.providers.sandbox.shopify import CLIENT_ID, CLIENT_SECRET
from penstock.store.accounts import accounts, sessions
from penstock.store.database import Connection, Database
from penstock.store.migrate import migrate

_ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "water-under-the-bridge-7"
ROLES = ("admin", "member", "viewer")


@dataclass
class House:
    owner_dsn: str
    folder: Path
    schema: str = field(default_factory=lambda: f"t_{secrets.token_hex(6)}")
    secret_key: str = field(default_factory=new_key)
    port: int = 0
    api: WarmProcess | None = None
    worker: WarmProcess | None = None
    sandbox: WarmProcess | None = None
    sandbox_url: str = ""
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def open(self) -> None:
        self.port = free_port()
        self.sandbox_url = f"http://127.0.0.1:{free_port()}"
        asyncio.run(self._settle_in())
        self.start_api()
        self.start_worker()

    def close(self) -> None:
        for process in (self.api, self.worker, self.sandbox):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        asyncio.run(self._clear_out())

    async def _settle_in(self) -> None:
        async with self.database() as conn:
            await migrate(conn, self.schema)
            org = await accounts.ensure_org(conn, "acme", "standard")
            hashed = await hash_password(PASSWORD)
            for role in ROLES:
                user = await accounts.ensure_user(conn, org.id, f"{role}@acme.example", role)
                await sessions.set_password(conn, user.id, org.id, hashed)
                self.keys[role] = await accounts.create_key(conn, org.id, user.id)

    async def _clear_out(self) -> None:
        async with self.database() as conn:
            await conn.execute(f'DROP SCHEMA "{self.schema}" CASCADE')

    @asynccontextmanager
    async def database(self) -> AsyncIterator[Connection]:
        opened = await Database(self.owner_dsn, self.schema, name="browser tests", size=2).open()
        try:
            async with opened.acquire() as conn:
                yield conn
        finally:
            await opened.close()

    def start_sandbox(self, products: int = 45) -> None:
        """The shops that the server offers for a demonstration."""
        port = self.sandbox_url.rpartition(":")[2]
        self.sandbox = self._run("sandbox", "--port", port, "--products", str(products))
        self._wait(lambda: httpx2.get(f"{self.sandbox_url}/sandbox/stats").is_success, "sandbox")

    def stop_sandbox(self) -> None:
        self.kill(self.sandbox)
        self.sandbox = None

    def start_api(self) -> None:
        self.api = self._run("api", "--port", str(self.port))
        self._wait(lambda: httpx2.get(f"{self.url}/health").status_code == 200, "API")

    def start_worker(self) -> None:
        self.worker = self._run("worker")
        self.wait_for_workers(1)

    def wait_for_workers(self, count: int) -> None:
        headers = {"Authorization": f"Bearer {self.keys['viewer']}"}
        self._wait(
            lambda: (
                httpx2.get(f"{self.url}/health/queue", headers=headers).json()["workers"] == count
            ),
            f"{count} workers",
        )

    def kill(self, process: WarmProcess | None) -> None:
        assert process is not None
        process.kill()
        process.wait()

    def _run(self, *command: str) -> WarmProcess:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
        told = {
            "PENSTOCK_DATABASE_URL": self.owner_dsn,
            "PENSTOCK_DATABASE_SCHEMA": self.schema,
            "PENSTOCK_DATA_DIR": str(self.folder / "data"),
            "PENSTOCK_TEST_PIPELINES": "1",
            "PENSTOCK_POLL_MS": "50",
            "PENSTOCK_SWEEP_MS": "100",
            "PENSTOCK_LOCK_FLOOR_MS": "1500",
            "PENSTOCK_LOCK_CAP_MS": "3000",
            "PENSTOCK_GLOBAL_PENDING": "true",
            "PENSTOCK_FETCH_ALLOW": "127.0.0.1/32",
            "PENSTOCK_WEBHOOK_ALLOW": "127.0.0.1/32",
            "PENSTOCK_PROVIDER_ALLOW": "127.0.0.1",
            "PENSTOCK_CRAWL_ALLOW": "127.0.0.1",
            "PENSTOCK_WATCH_ROOTS": str(self.folder / "watched"),
            "PENSTOCK_WATCH_SETTLE_MS": "200",
            "PENSTOCK_SANDBOX_URL": self.sandbox_url,
            "PENSTOCK_SHOPIFY_CLIENT_ID": CLIENT_ID,
            "PENSTOCK_SHOPIFY_CLIENT_SECRET": CLIENT_SECRET,
            "PENSTOCK_SECRET_KEY": self.secret_key,
            "PYTHONPATH": os.pathsep.join([str(_ROOT / "src"), str(_ROOT)]),
        }
        with (self.folder / f"{command[0]}.log").open("ab") as out:
            return start_process("penstock.cli", *command, env={**kept, **told}, cwd=_ROOT, log=out)

    def _wait(self, condition: Any, what: str, timeout: float = 90) -> None:
        deadline = time.monotonic() + timeout
        while True:
            try:
                if condition():
                    return
            except (httpx2.TransportError, KeyError, ValueError):
                pass
            assert time.monotonic() < deadline, f"no {what} within {timeout:g} s: {self.said()}"
            time.sleep(0.05)

    def said(self) -> str:
        return "\n".join(log.read_text("utf-8")[-2000:] for log in self.folder.glob("*.log"))

    def client(self, role: str = "member") -> httpx2.Client:
        headers = {"Authorization": f"Bearer {self.keys[role]}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=30)

    def submit(self, pipeline: str = "noop", role: str = "member", **config: Any) -> str:
        with self.client(role) as client:
            answer = client.post("/api/jobs", json={"pipeline": pipeline, "config": config})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["jobId"])

    def upload(self, file: Path, role: str = "member", **fields: str) -> str:
        with self.client(role) as client, file.open("rb") as content:
            answer = client.post("/api/jobs", files={"file": (file.name, content)}, data=fields)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["jobId"])

    def stock(self, sample: Path, prefix: str) -> str:
        """Put the sample's products into the catalog under codes that no other test uses: all of
        them share one catalog, and some count what they add to it."""
        own = self.folder / f"{prefix}.csv"
        text = sample.read_bytes().replace(b"PS-", prefix.encode() + b"-")
        own.write_bytes(re.sub(rb";\d{13};", b";;", text))
        job_id = self.upload(own, config='{"intent": "merge"}')
        self.wait_for(job_id)
        return job_id

    def wait_for(self, job_id: str, state: str = "done") -> Any:
        with self.client("admin") as client:
            shown: dict[str, Any] = {}

            def reached() -> bool:
                shown.update(client.get(f"/api/jobs/{job_id}").json())
                return bool(shown["state"] == state)

            self._wait(reached, f"job that is {state}")
            return shown
