"""Stored configs are parsed once per process, however many slices a job has."""

from __future__ import annotations

from typing import Any

import pytest
from tests.extraction.support import run_file
from tests.fixtures import Bench

from penstock.catalog.products.plan import compile_plan
from penstock.engine.runtime import MAX_CACHED_CONFIGS, parse_config, parsed_config
from penstock.model.errors import PermanentError
from penstock.pipelines.extraction import pipeline as extraction
from penstock.pipelines.extraction.pipeline import Extraction
from penstock.settings import Settings

ROWS = 60
CLAIMED = 4


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"claim_max": CLAIMED})


async def test_a_job_of_many_slices_compiles_its_config_twice(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once when it is submitted and once in the worker."""
    compiled = 0

    def counted(*given: Any) -> Any:
        nonlocal compiled
        compiled += 1
        return compile_plan(*given)

    monkeypatch.setattr(extraction, "compile_plan", counted)
    parsed_config.cache_clear()
    rows = "".join(f"P-{n},Thing {n},1.50\n" for n in range(ROWS))
    job = await run_file(bench, f"sku,title,price\n{rows}".encode(), intent="merge", source="one")
    assert job["done"] == ROWS
    assert compiled == 2
    assert parsed_config.cache_info().misses == 1
    # At least one use per lease: of the ingest, of the rows, of the finish.
    assert parsed_config.cache_info().hits >= 2


def test_equal_texts_share_one_config() -> None:
    pipeline = Extraction()
    assert parse_config(pipeline, '{"source": "a"}') is parse_config(pipeline, '{"source": "a"}')
    assert parse_config(pipeline, '{"source": "b"}').source == "b"


def test_a_config_that_is_no_longer_valid_fails_every_time() -> None:
    for _ in range(2):
        with pytest.raises(PermanentError, match=r"config\.rules"):
            parse_config(Extraction(), '{"rules": 1}')


def test_the_cache_is_bounded() -> None:
    for number in range(MAX_CACHED_CONFIGS + 10):
        parse_config(Extraction(), f'{{"source": "s{number}"}}')
    assert parsed_config.cache_info().currsize == MAX_CACHED_CONFIGS
