"""Pages of a job's items, from the first to the last: over HTTP, and as the bare query."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from benchmarks.entry import Line, Scale, at_most, within
from benchmarks.installation import Http, serving
from benchmarks.lab import Bench
from benchmarks.measure import percentile, timed
from penstock.api.http.cursors import signing_key, to_cursor
from penstock.api.jobs.items import list_of
from penstock.store import orphans
from penstock.store.accounts import accounts
from penstock.store.database import Database
from penstock.store.jobs import items
from penstock.store.jobs.items import ItemFilter, Key
from penstock.wiring import api_database

_PAGE = 100
_PLACES = (0.0, 0.25, 0.5, 0.75, 1.0)
_LIVE = ["PENDING", "PROCESSING"]
_WANTED = {"Pending tab": ItemFilter(items.OPEN, by_age=True), "grid": ItemFilter()}
_PLACE = "SELECT updated_at, row_no FROM job_items WHERE job_id = $1 AND row_no = $2"

# A page after an item, by the time it was touched and its row.
Page = Callable[[datetime, int], Awaitable[object]]


@dataclass(frozen=True)
class Walk:
    """Pages of ``job_id``, whose rows in question are ``first`` to ``last``."""

    bench: Bench
    job_id: UUID
    first: int
    last: int
    when: str

    async def lines(self, names: Sequence[str], scale: Scale) -> list[Line]:
        """``names`` of the lists to look at: Pending tab, grid."""
        bench = self.bench
        async with bench.db.transaction() as conn:
            key = await accounts.create_key(conn, bench.who.org_id, bench.who.user_id)
            # A place that was never given out: any page can be asked for without walking there.
            signing_key.set(await orphans.signing_key(conn))
        where, out = await self._places(), []
        async with serving(bench) as api:
            http = Http(api.url)
            db = await api_database(bench.runtime.settings, bench.lab.api_dsn).open()
            try:
                for name in names:
                    pages = {
                        "over HTTP": _over_http(http, key, self.job_id, name),
                        "the query": _by_query(db, bench, self.job_id, self.last, name),
                    }
                    for how, page in pages.items():
                        found = [
                            await _times(page, where, scale.of(40, 10))
                            for _ in range(scale.repetitions)
                        ]
                        out += self._judged(f"{name}, {self.when}, {how}", found)
            finally:
                await http.close()
                await db.close()
        return out

    async def _places(self) -> list[tuple[datetime, int]]:
        """Items after which pages are asked for; after the last one, a full page is left."""
        span = self.last - self.first - _PAGE
        async with self.bench.db.acquire() as conn:
            rows = [
                await conn.fetchrow(_PLACE, self.job_id, self.first + int(span * share))
                for share in _PLACES
            ]
        return [(row["updated_at"], row["row_no"]) for row in rows if row is not None]

    def _judged(self, name: str, found: list[list[list[float]]]) -> list[Line]:
        worst = [max(percentile(place, 0.95) for place in one) for one in found]
        first = [percentile(one[0], 0.5) for one in found]
        last = [percentile(one[-1], 0.5) for one in found]
        return [
            at_most(f"{name}: p95 where it is worst", "ms", worst, 10),
            within(f"{name}: last page against first, p50", "ms", last, first, 1.5),
        ]


async def _times(
    page: Page, where: Sequence[tuple[datetime, int]], count: int
) -> list[list[float]]:
    """Milliseconds of each page, by place."""
    out = []
    for updated_at, row_no in where:
        found = []
        for _ in range(count):
            async with timed() as clock:
                await page(updated_at, row_no)
            found.append(clock.seconds * 1000)
        out.append(found)
    return out


def _over_http(http: Http, key: str, job_id: UUID, name: str) -> Page:
    path, asked = f"/api/jobs/{job_id}/items", [("pageSize", str(_PAGE))]
    if name == "Pending tab":
        asked += [("sort", "updated"), ("statuses", ",".join(_LIVE))]

    async def ask(query: list[tuple[str, str]]) -> Any:
        status, body = await http.get(path, key, query)
        if status != 200:
            raise RuntimeError(f"{status}: {body[:300]!r}")
        return body

    async def page(updated_at: datetime, row_no: int) -> None:
        cursor = to_cursor(list_of(job_id, _WANTED[name]), updated_at, row_no)
        await ask([*asked, ("after", cursor)])

    return page


def _by_query(db: Database, bench: Bench, job_id: UUID, rows: int, name: str) -> Page:
    async def page(updated_at: datetime, row_no: int) -> None:
        async with db.scoped(bench.who.scope, readonly=True) as conn:
            await items.page(conn, job_id, rows, _WANTED[name], Key(updated_at, row_no), _PAGE)

    return page
