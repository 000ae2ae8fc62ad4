"""Job postings of pages, from the page to the table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from tests.crawl.site import Reply, plan_of, posting_page, product_page, sites
from tests.crawl.support import Crawler

from penstock.app.undo import undo
from penstock.model.text.json_text import from_json

pytestmark = pytest.mark.slow


async def test_postings_are_written_changed_and_expired(crawler: Crawler) -> None:
    async with sites() as [site]:
        site.pages |= {
            "/jobs/1": Reply(posting_page("Fitter")),
            "/jobs/2": Reply(posting_page("Welder")),
            "/p/1": Reply(product_page("Lamp")),
        }
        run = await crawler.run(plan_of(site))
        assert run.counts["ready"] == 3
        rows = await crawler.rows("SELECT * FROM postings ORDER BY url")
        assert [row["title"] for row in rows] == ["Fitter", "Welder"]
        fields = from_json(rows[0]["data"])
        assert fields["datePosted"] == "2026-01-15"
        assert fields["employmentType"] == ["FULL_TIME"]
        assert "Berlin" in fields["locations"][0]
        assert (str(rows[0]["date_posted"]), str(rows[0]["valid_through"])) == (
            "2026-01-15", "2026-06-30",
        )  # fmt: skip
        site.pages["/jobs/1"] = Reply(posting_page("Fitter", "Hamburg"))
        site.pages["/jobs/2"] = Reply(b"", 410)
        again = await crawler.run(plan_of(site))
        assert (again.counts["ready"], again.counts["skipped"], again.counts["expired"]) == (
            1,
            1,
            1,
        )
        rows = await crawler.rows("SELECT * FROM postings ORDER BY url")
        assert "hamburg" in rows[0]["words"]
        assert [row["state"] for row in rows] == ["open", "expired"]


async def test_undo_restores_postings(crawler: Crawler) -> None:
    """In the reverse order of the runs: changed, expired and made ones."""
    runtime = crawler.bench.runtime
    shown = "SELECT title, words, data::text, state, version, job_id FROM postings ORDER BY url"

    async def undone(run: Any, **more: Any) -> Any:
        made = await undo(runtime, runtime.db.transaction, run.job.id, 10, **more)
        counted = ("restored", "deleted", "postings", "refusedCount", "more")
        return tuple(made[name] for name in counted)

    async with sites() as [site]:
        site.pages |= {
            "/jobs/1": Reply(posting_page("Fitter")),
            "/jobs/2": Reply(posting_page("Welder")),
        }
        first = await crawler.run(plan_of(site))
        before = await crawler.rows(shown)
        site.pages |= {
            "/jobs/1": Reply(posting_page("Fitter", "Hamburg")),
            "/jobs/2": Reply(b"", 410),
            "/jobs/3": Reply(posting_page("Smith")),
        }
        second = await crawler.run(plan_of(site))
        after = await crawler.rows(shown)
        assert [(row["state"], row["version"]) for row in after] == [
            ("open", 2), ("expired", 2), ("open", 1),
        ]  # fmt: skip
        # The later run first; what it would do is told without doing it.
        assert await undone(first) == (0, 0, 0, 2, False)
        assert await undone(second, dry_run=True) == (2, 1, 3, 0, False)
        assert await crawler.rows(shown) == after
        assert await undone(second) == (2, 1, 3, 0, False)
        assert await crawler.rows(shown) == before
        assert await undone(second) == (0, 0, 0, 0, False)
        assert await undone(first) == (0, 2, 2, 0, False)
        assert await crawler.rows(shown) == []


async def test_pages_of_the_other_kind_are_named(crawler: Crawler) -> None:
    async with sites() as [site]:
        site.pages |= {
            "/jobs/1": Reply(posting_page("Fitter")),
            "/about": Reply(b"<html><body></body></html>"),
        }
        asked = await crawler.run(plan_of(site), kind="job")
        assert (asked.counts["ready"], asked.counts["error"]) == (1, 1)
        assert (await crawler.codes(asked.job.id))["/about"] == "NOTHING_EXTRACTED"
        auto = await crawler.run(plan_of(site))
        assert auto.counts["skipped"] == 2


async def test_an_undo_whose_time_ends_with_the_products_has_more_to_undo(
    crawler: Crawler, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = crawler.bench.runtime
    async with sites() as [site]:
        site.pages["/jobs/1"] = Reply(posting_page("Fitter"))
        run = await crawler.run(plan_of(site))
    # The clock of the deadline, of the products and of the postings.
    moments = iter([0.0, 0.0])
    clock = SimpleNamespace(monotonic=lambda: next(moments, 60.0))
    monkeypatch.setattr("penstock.app.undo.time", clock)
    cut = await undo(runtime, runtime.db.transaction, run.job.id, 10)
    assert (cut["deleted"], cut["more"]) == (0, True)
    monkeypatch.undo()
    rest = await undo(runtime, runtime.db.transaction, run.job.id, 10, after=cut["last"])
    assert (rest["deleted"], rest["more"]) == (1, False)
