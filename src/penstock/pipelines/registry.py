"""All pipelines. A new one is a module here or an entry point of another package.

Pipelines for tests of the engine are known only with `PENSTOCK_TEST_PIPELINES`.
"""

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
TEST_PIPELINES: tuple[Pipeline, ...] = (Noop(),)


def known_pipelines(*, with_test_pipelines: bool) -> dict[str, Pipeline]:
    """The pipelines of an installation, by name."""
    known = (*PIPELINES, *TEST_PIPELINES) if with_test_pipelines else PIPELINES
    return {one.name: one for one in known}
