"""The text of `/metrics`: valid for Prometheus, and all that the table says and nothing else."""

from __future__ import annotations

import re
from collections import defaultdict

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.api.conftest import Caller, submit_noop
from tests.checker.polling import until
from tests.fixtures import Bench

from penstock.api.monitor.metric_table import METRICS
from penstock.model.monitor.histogram import BOUNDS, HistogramSet, cumulative

_UNITS = re.compile(r"_(milliseconds|ms|minutes|kilobytes|megabytes)(_|$)")


@pytest.mark.parametrize("name", METRICS)
def test_names_follow_the_rules_of_promtool(name: str) -> None:
    """The checks of `promtool check metrics`: base units, counters end with `_total`, nothing else
    does, and a histogram has none of its reserved suffixes and labels."""
    metric = METRICS[name]
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
    assert metric.about.endswith(".")
    assert not _UNITS.search(name)
    assert (metric.kind == "counter") == name.endswith("_total")
    assert not name.endswith(("_count", "_sum", "_bucket", "_info"))
    assert not {"le", "quantile", "job", "instance"} & set(metric.labels)
    if metric.kind == "histogram":
        assert name.endswith("_seconds")


async def test_the_text_can_be_read_and_its_histograms_add_up(
    client: httpx2.AsyncClient, caller: Caller, bench: Bench
) -> None:
    admin = await caller("default", role="admin")
    await submit_noop(client, config={"items": 300, "provider": "shop", "domain": "a"})
    await submit_noop(client, config={"items": 5, "inline": False})
    async with bench.worker() as worker:
        while await worker.run_once():
            pass
        found: list[str] = []

        async def told() -> bool:
            found[:] = [(await admin.get("/metrics")).text]
            return f'items_ended_total{{worker="{worker.id}",status="done"}} 305' in found[0]

        await until(told, "the worker's figures")
    (text,) = found
    seen: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    for family in text_string_to_metric_families(text):
        name = family.name + ("_total" if family.type == "counter" else "")
        metric = METRICS[name]
        assert (family.type, family.documentation) == (metric.kind, metric.about)
        for sample in family.samples:
            labels = tuple(sample.labels.get(one, "") for one in metric.labels)
            assert set(sample.labels) - {"le"} == set(metric.labels), sample
            if metric.kind != "histogram":
                assert labels not in seen[name], f"{name}{labels} twice"
            seen[name].add(labels)
        if metric.kind == "histogram":
            _adds_up(family)
    times = ("claim", "slice", "settle", "ingest_batch", "provider_call")
    for name in times:
        assert seen[f"penstock_worker_{name}_duration_seconds"], name
    assert seen["penstock_api_request_duration_seconds"] >= {("POST", "/api/jobs", "2xx")}
    assert seen["penstock_leases_taken_back_total"] == {()}


def _adds_up(family: object) -> None:
    """Buckets grow up to the count, which the last of them has."""
    buckets, counts = defaultdict(list), {}
    for sample in family.samples:  # type: ignore[attr-defined]
        labels = tuple(sorted(one for one in sample.labels.items() if one[0] != "le"))
        if sample.name.endswith("_bucket"):
            buckets[labels].append((float(sample.labels["le"]), sample.value))
        elif sample.name.endswith("_count"):
            counts[labels] = sample.value
    assert set(buckets) == set(counts)
    for labels, found in buckets.items():
        assert found == sorted(found)
        assert [value for _, value in found] == sorted(value for _, value in found)
        assert found[-1] == (float("inf"), counts[labels])


def test_a_histogram_counts_each_value_once() -> None:
    times = HistogramSet()
    for seconds in (0.0, 0.001, 0.0011, 29.9, 31.0):
        times.observe("claim", ("a",), seconds)
    (one,) = times.snapshot()
    assert (sum(one["counts"]), one["counts"][0], one["counts"][-1]) == (5, 2, 1)
    assert one["sum"] == pytest.approx(60.9021)
    assert cumulative(one["counts"])[-1] == ("+Inf", 5)
    assert len(cumulative(one["counts"])) == len(BOUNDS) + 1
    off = HistogramSet(enabled=False)
    off.observe("claim", (), 1.0)
    assert off.snapshot() == []
