"""The stage `extract`: fields of stored pages, compared with the last version, written to the
catalog or to the job postings. It sends no requests, and ignores companies' order."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from penstock import __version__
from penstock.model.crawl.pages import (
    UNCHANGED,
    Baseline,
    CrawlSettings,
    KeepExtraction,
    KeepPosting,
    PageIndex,
)
from penstock.model.effects import Effect
from penstock.model.errors import ChildCrashed, ItemError, PermanentError, TransientError
from penstock.model.outcomes import Done, Fail, Outcome, Skip
from penstock.model.pipeline import Item, retry_of
from penstock.model.ports import Context, InputFile, Products, Profiles
from penstock.pipelines.crawl.config import CrawlConfig
from penstock.pipelines.crawl.products import PageProduct, RateTable, product_of, source_of
from penstock.pipelines.crawl.reading import extract_stored
from penstock.pipelines.crawl.simhash import THRESHOLD, distance
from penstock.pipelines.extraction.matcher import MatchSettings
from penstock.pipelines.extraction.plan import today
from penstock.pipelines.product_writes import compare_documents, written_outcome

_AT_ONCE = 2
_NOTHING = "The page has neither a product nor a job posting."


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a page says. ``page`` is the checkpoint of the stage `crawl`."""

    page: Mapping[str, Any]
    kind: str | None
    fields: Mapping[str, Any]
    lineage: Mapping[str, Any]
    digest: str

    @property
    def page_id(self) -> UUID:
        return UUID(self.page["id"])

    @property
    def version(self) -> int:
        return int(self.page["version"])

    def is_unchanged(self, baseline: Baseline) -> bool:
        """Near the last version in its text, and equal in all that was extracted."""
        if baseline.digest != self.digest:
            return False
        if baseline.version == self.version:
            return True
        told = self.page.get("simhash")
        if told is None or baseline.simhash is None:
            return False
        return distance(int(told, 16), baseline.simhash) <= THRESHOLD

    def kept(self, same_as: int | None = None) -> KeepExtraction:
        return KeepExtraction(
            self.page_id, self.version, self.kind, self.fields, self.lineage, self.digest,
            __version__, same_as,
        )  # fmt: skip


async def extract(batch: Sequence[Item], ctx: Context) -> Sequence[Outcome | None]:
    """Items of one batch have the same config; they may be of several runs."""
    gate = asyncio.Semaphore(_AT_ONCE)
    read = await asyncio.gather(*(_extract_item(item, ctx, gate) for item in batch))
    outcomes: list[Outcome | None] = [None if isinstance(one, Extracted) else one for one in read]
    found = {place: one for place, one in enumerate(read) if isinstance(one, Extracted)}
    for place, outcome in (await _compare_with_baselines(batch, found, ctx)).items():
        outcomes[place] = outcome
    return outcomes


async def _extract_item(
    item: Item, ctx: Context, gate: asyncio.Semaphore
) -> Extracted | Outcome | None:
    """In a child process; None: not started any more."""
    page = (item.normalized or {}).get("page")
    assert page is not None, "the stage `crawl` keeps a checkpoint"
    most = ctx.port(CrawlSettings).max_page_bytes
    async with gate:
        if ctx.time_is_up():
            return None
        try:
            async with ctx.blobs.local(page["blob"]) as path:
                told = await asyncio.wait_for(
                    ctx.children.call(
                        extract_stored, InputFile(path), page["contentType"], most,
                        page["finalUrl"], item.job.config.kind,
                    ),
                    ctx.item_timeout_ms / 1000,
                )  # fmt: skip
        except (ChildCrashed, TimeoutError, MemoryError, RecursionError):
            why = "The page is more than the extractor can take."
            return Fail(ItemError("PAGE_UNREADABLE", why), _cells(item))
        except PermanentError as error:
            return Fail(ItemError.of(error), _cells(item))
        except (TransientError, OSError) as error:
            return retry_of(error)
        except Exception as error:
            # Extraction is pure, so it would fail again.
            ctx.log.warning("page could not be extracted", row=item.row_no, error=repr(error))
            return Fail(ItemError("PAGE_UNREADABLE", f"The extractor failed: {error!r}"[:500]))
    return Extracted(page, told["kind"], told["fields"], told["lineage"], told["digest"])


async def _compare_with_baselines(
    batch: Sequence[Item], found: Mapping[int, Extracted], ctx: Context
) -> dict[int, Outcome]:
    outcomes: dict[int, Outcome] = {}
    baselines = await _baselines(batch, found, ctx)
    products: dict[tuple[UUID, str], list[int]] = {}
    for place, one in found.items():
        item, baseline = batch[place], baselines.get(place)
        if one.kind is None:
            outcomes[place] = _empty(item, one)
        elif baseline is not None and one.is_unchanged(baseline) and not item.job.config.recrawl:
            outcomes[place] = _unchanged_outcome(item, one, baseline)
        elif one.kind == "job":
            outcomes[place] = _posting(item, one)
        else:
            products.setdefault((item.job.id, item.input["company"]), []).append(place)
    for places in products.values():
        outcomes |= await _products(places, batch, found, ctx)
    return outcomes


async def _baselines(
    batch: Sequence[Item], found: Mapping[int, Extracted], ctx: Context
) -> dict[int, Baseline]:
    by_job: dict[UUID, list[int]] = {}
    for place in found:
        by_job.setdefault(batch[place].job.id, []).append(place)
    known: dict[int, Baseline] = {}
    for job_id, places in by_job.items():
        pages = [(found[place].page_id, found[place].version) for place in places]
        org_id = batch[places[0]].job.org_id
        some = await ctx.port(PageIndex).baselines(org_id, job_id, pages)
        known |= {
            place: some[found[place].page_id] for place in places if found[place].page_id in some
        }
    return known


def _empty(item: Item, one: Extracted) -> Outcome:
    """Of a list of pages that a person gave as products or postings it is an error; a sitemap or a
    link may lead to other pages."""
    told = item.input
    is_listed = told.get("listed", True) and "follow" not in told
    kept: list[Effect] = [one.kept()]
    if is_listed and item.job.config.kind != "auto":
        return Fail(ItemError("NOTHING_EXTRACTED", _NOTHING), _cells(item), effects=kept)
    return Skip(_NOTHING, _cells(item), "NOTHING_EXTRACTED", effects=kept)


def _unchanged_outcome(item: Item, one: Extracted, baseline: Baseline) -> Outcome:
    """The version is not kept; the item refers to the one it equals from now on."""
    page = {
        **one.page, "version": baseline.version, "blob": baseline.blob_key,
        "finalUrl": baseline.final_url, "contentType": baseline.content_type,
    }  # fmt: skip
    why = "The page has not changed since the last run."
    cells = _cells(item, one)
    return Skip(why, cells, UNCHANGED, {"page": page}, effects=[one.kept(baseline.version)])


def _posting(item: Item, one: Extracted) -> Outcome:
    told = item.input
    posting = KeepPosting(one.page_id, told["company"], told["url"], one.fields, one.lineage)
    effects: list[Effect] = [one.kept()]
    if item.job.config.intent != "check":
        effects.append(posting)
    return Done(_cells(item, one), {"page": dict(one.page)}, effects=effects)


async def _products(
    places: Sequence[int], batch: Sequence[Item], found: Mapping[int, Extracted], ctx: Context
) -> dict[int, Outcome]:
    """Pages of one run and company: compared with the catalog together."""
    job, company = batch[places[0]].job, batch[places[0]].input["company"]
    config: CrawlConfig = job.config
    rates: RateTable = tuple(await ctx.port(Profiles).rates(config.base_currency, today()))
    made: dict[int, PageProduct] = {
        place: product_of(
            found[place].fields,
            batch[place].input["url"],
            company,
            config.base_currency,
            rates,
            found[place].lineage,
        )
        for place in places
    }
    settings = MatchSettings(
        job.id, source_of(company), "sourceId", "first", config.intent, config.price_guard
    )
    documents = {
        batch[place].row_no: {**one.document, "page": dict(found[place].page)}
        for place, one in made.items()
        if one.error is None
    }
    rows = await compare_documents(job.org_id, documents, settings, ctx.port(Products))
    outcomes: dict[int, Outcome] = {}
    for place, one in made.items():
        item = batch[place]
        cells = {**_cells(item, found[place]), **one.cells}
        kept: list[Effect] = [found[place].kept()]
        if one.error is not None:
            document = {**one.document, "page": dict(found[place].page)}
            outcomes[place] = Fail(one.error, cells, document, effects=kept)
            continue
        row = rows[item.row_no]
        if row.document is None:
            # The stored checkpoint is that of the stage before.
            row = row._replace(document=documents[item.row_no])
        outcome = written_outcome(
            row, config.intent, settings.source, {**cells, **row.cells().cells}
        )
        outcomes[place] = _with_effects(outcome, kept)
    return outcomes


def _with_effects(outcome: Outcome, more: Sequence[Effect]) -> Outcome:
    return replace(outcome, effects=[*outcome.effects, *more])


def _cells(item: Item, one: Extracted | None = None) -> dict[str, Any]:
    told = item.input
    cells: dict[str, Any] = {"company": told["company"], "url": told["url"]}
    if one is None:
        return cells
    cells["kind"] = one.kind
    if one.kind == "job":
        fields = one.fields
        cells |= _filled_fields(fields, "title", "datePosted", "validThrough")
        cells["location"] = "; ".join(map(str, fields.get("locations") or ())) or None
        cells["employmentType"] = ", ".join(map(str, fields.get("employmentType") or ())) or None
    elif one.kind == "product":
        cells["title"] = one.fields.get("name")
        cells |= _filled_fields(one.fields, "brand", "price", "currency", "sku", "gtin")
    return {name: value for name, value in cells.items() if value is not None}


def _filled_fields(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: fields[name] for name in names if fields.get(name)}
