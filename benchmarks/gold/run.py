"""Files to products, by the functions that a job uses, without a database."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

from penstock.catalog.mapping.column_stats import ColumnStats
from penstock.catalog.mapping.proposal import propose
from penstock.catalog.products.variants import VariantRow, group
from penstock.catalog.profiles import profile as profiles
from penstock.model.outcomes import Advance
from penstock.model.pipeline import Item, Job
from penstock.pipelines.extraction.pipeline import ExtractionConfig
from penstock.pipelines.extraction.plan import build_context, with_job_settings
from penstock.pipelines.extraction.preview import sample_file
from penstock.pipelines.extraction.rows import extract

LIMITS = {
    "rows": 1_000_000, "columns": 2000, "cells": 50_000_000, "cell_bytes": 1024 * 1024,
    "file_bytes": 100 * 1024 * 1024, "inflated_bytes": 1024 * 1024 * 1024, "nesting": 64,
}  # fmt: skip
Product = dict[str, Any]


def products_of(path: Path) -> list[Product]:
    """The products of a file, variants grouped, as a job without any settings makes them."""
    config = ExtractionConfig(source="gold")
    read = sample_file(str(path), config.reading(), LIMITS)
    header = read["header"]
    stats = [ColumnStats.from_json(one) for one in read["stats"]]
    proposal = propose(header, [one.samples for one in stats])
    profile = with_job_settings(profiles.from_proposal("proposed", proposal), header, config)
    context = build_context(
        header, stats, profile, proposal, "proposed", (), "USD", read["detected"]
    )
    job = Job(UUID(int=1), 1, "extraction", config, header=header, context=context)
    items = [Item(job, number, cells) for number, cells in enumerate(read["rows"], 1)]
    members = []
    for item, outcome in zip(items, extract(items), strict=True):
        if not isinstance(outcome, Advance):
            continue
        kept = outcome.normalized or {}
        named = kept.get("group") or {}
        members.append(
            VariantRow(
                item.row_no, kept["product"], named.get("name"), named.get("continues", False)
            )
        )
    return [dict(one.product) for one in group(members)]
