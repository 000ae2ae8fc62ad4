"""Credentials that a table keeps as sealed JSON, in a column `credentials`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import orjson

from penstock.model.ports import Sealer
from penstock.model.text.redaction import register_secret
from penstock.store.database import Connection

_RESEALED_AT_ONCE = 100
# Shorter ones could be ordinary words, which would disappear from all logs.
_MIN_SECRET = 16


@dataclass(frozen=True, slots=True)
class SealedCredentials:
    """The credentials of one table. ``kind`` names its rows and is sealed with them; the statements
    give the next rows after an id, write one row, and give the newest row."""

    kind: str
    next_rows: str
    write: str
    newest: str

    def seal(self, sealer: Sealer, row_id: UUID, given: Mapping[str, str]) -> bytes:
        return sealer.seal(orjson.dumps(dict(given)), self._owner(row_id))

    def open(self, sealer: Sealer, row_id: UUID, sealed: bytes) -> dict[str, str]:
        """The credentials, which do not appear in logs from now on."""
        opened: dict[str, str] = orjson.loads(sealer.open(sealed, self._owner(row_id)))
        for secret in opened.values():
            if len(secret) >= _MIN_SECRET:
                register_secret(secret)
        return opened

    async def reseal(
        self, conn: Connection, sealer: Sealer, after: UUID | None
    ) -> tuple[int, UUID | None]:
        """Seal the next rows with the newest key. Return how many changed, and the last id."""
        rows = await conn.fetch(self.next_rows, after, _RESEALED_AT_ONCE)
        changed = 0
        for row in rows:
            if sealer.is_current(row["credentials"]):
                continue
            owner = self._owner(row["id"])
            fresh = sealer.seal(sealer.open(row["credentials"], owner), owner)
            await conn.execute(self.write, row["id"], fresh)
            changed += 1
        return changed, rows[-1]["id"] if rows else None

    async def newest_opens(self, conn: Connection, sealer: Sealer) -> bool:
        """Try to open the newest row; False if there is none."""
        row = await conn.fetchrow(self.newest)
        if row is None:
            return False
        sealer.open(row["credentials"], self._owner(row["id"]))
        return True

    def _owner(self, row_id: UUID) -> str:
        return f"{self.kind}:{row_id}"
