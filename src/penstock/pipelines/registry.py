"""All pipelines. A new one is a module here or an entry point of another package."""

from __future__ import annotations

from importlib.metadata import entry_points

from penstock.model.pipeline import Pipeline
from penstock.pipelines.crawl.pipeline import Crawl
from penstock.pipelines.export import Export
from penstock.pipelines.extraction.pipeline import Extraction
from penstock.pipelines.lookup.pipeline import Lookup
from penstock.pipelines.noop import Noop
from penstock.pipelines.notifications import Notifications
from penstock.pipelines.research.pipeline import Research, ResearchProcess, ResearchRetry
from penstock.pipelines.shop_import.pipeline import ShopImport
from penstock.pipelines.webhook_dispatch import WebhookDispatch
from penstock.pipelines.webhooks import Webhooks

ENTRY_POINTS = "penstock.pipelines"

PIPELINES: tuple[Pipeline, ...] = (
    Extraction(),
    Lookup(),
    Noop(),
    Research(),
    ResearchProcess(),
    ResearchRetry(),
    ShopImport(),
    WebhookDispatch(),
    Webhooks(),
    Notifications(),
    Crawl(),
    Export(),
    *(found.load()() for found in entry_points(group=ENTRY_POINTS)),
)
