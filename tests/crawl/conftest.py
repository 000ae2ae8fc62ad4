"""Crawls reach the sites of this machine."""

from __future__ import annotations

import pytest
from tests.crawl.support import Crawler
from tests.fixtures import Bench

from penstock.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"crawl_allow": "127.0.0.1"})


@pytest.fixture
def crawler(bench: Bench) -> Crawler:
    return Crawler(bench)
