"""The API as a real process, on a test's schema."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import httpx2
from tests.checker.polling import until
from tests.ports import free_port
from tests.warm import WarmProcess, start_process

from penstock.settings import Settings
from penstock.store.accounts import accounts
from penstock.store.database import Database

_ROOT = Path(__file__).resolve().parents[2]
_NOT_YET = (httpx2.TransportError,)


@dataclass
class ApiProcess:
    """One API at a time, always on the same port. Its clients are a member of one org."""

    settings: Settings
    owner_dsn: str
    log: Path
    port: int = 0
    key: str = ""
    process: subprocess.Popen[bytes] | WarmProcess | None = None

    def __enter__(self) -> Self:
        self.port = free_port()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        print(f"log of the API:\n{self.said()}")
        self.kill()

    def said(self) -> str:
        return self.log.read_text(errors="replace")[-3000:] if self.log.exists() else ""

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    @property
    def dead(self) -> bool:
        return self.process is None or self.process.poll() is not None

    async def start(self, failpoint: str = "", env: Mapping[str, str] | None = None) -> None:
        """Start the API and wait until it answers."""
        given = {
            f"PENSTOCK_{name.upper()}": str(getattr(self.settings, name))
            for name in self.settings.model_fields_set
        }
        kept = {k: v for k, v in os.environ.items() if not k.startswith("PENSTOCK_")}
        path = os.pathsep.join([str(_ROOT / "src"), str(_ROOT)])
        told = {
            "PENSTOCK_DATABASE_URL": self.owner_dsn,
            "PENSTOCK_FAILPOINT": failpoint,
            "PYTHONPATH": path,
        }

        with self.log.open("ab") as out:
            self.process = self._run(out, {**kept, **given, **told, **(env or {})})

        async def answers() -> bool:
            assert not self.dead, self.said()
            async with self.client() as client:
                try:
                    return (await client.get("/health")).status_code < 500
                except _NOT_YET:
                    return False

        await until(answers, "the API to answer", timeout=60)

    def _run(self, out: IO[bytes], env: Mapping[str, str]) -> subprocess.Popen[bytes] | WarmProcess:
        command = ("api", "--port", str(self.port))
        if "LD_PRELOAD" not in env:
            return start_process("penstock.cli", *command, env=env, cwd=self.log.parent, log=out)
        return subprocess.Popen(
            [sys.executable, "-m", "penstock", *command], stdout=out, stderr=out, env=env
        )

    async def admits(self, db: Database, org: str = "acme") -> None:
        """Create the key that clients use from now on."""
        async with db.acquire() as conn:
            row = await accounts.ensure_org(conn, org)
            user = await accounts.ensure_user(conn, row.id, f"member@{org}", "member")
            self.key = await accounts.create_key(conn, row.id, user.id)

    def client(self, **options: Any) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"Authorization": f"Bearer {self.key}"} if self.key else {},
            timeout=30,
            **options,
        )
