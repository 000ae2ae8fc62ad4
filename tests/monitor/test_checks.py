"""Checks, thresholds and the status: pure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.model.monitor.checks import (
    HealthCheck,
    JobFigures,
    Measured,
    ProviderFigures,
    Severity,
    Thresholds,
    checks_of,
    parse_overrides,
    runbook_link,
    status_of_checks,
)
from penstock.monitor.measure import camel
from penstock.settings import Settings

LIMITS = Thresholds()
WELL = Measured(
    workers=2, cpu=0.2, memory=0.2, settled_items=1000, retried_items=10,
    jobs=JobFigures(10, 0, 5, 100, 1000, 900, 500, 2000, 3000),
    providers={"shopify": ProviderFigures(100, 1, 0, 300)},
)  # fmt: skip
# How each check is driven over its threshold.
OVER = {
    "depth": replace(WELL, depth=51),
    "oldest_ms": replace(WELL, oldest_ms=300_001),
    "dead_letters": replace(WELL, dead_letters=11),
    "success_rate": replace(WELL, jobs=replace(WELL.jobs, succeeded=17, failed=2)),
    "duration_ms": replace(WELL, jobs=replace(WELL.jobs, duration_ms=60_001)),
    "p50_ms": replace(WELL, jobs=replace(WELL.jobs, p50_ms=300_001)),
    "p95_ms": replace(WELL, jobs=replace(WELL.jobs, p95_ms=900_001)),
    "p99_ms": replace(WELL, jobs=replace(WELL.jobs, p99_ms=1_800_001)),
    "retry_rate": replace(WELL, retried_items=101),
    "stalled": replace(WELL, stalled=6),
    "workers": replace(WELL, workers=1),
    "cpu": replace(WELL, cpu=0.81),
    "memory": replace(WELL, memory=0.86),
    "provider_error_rate": replace(WELL, providers={"shopify": ProviderFigures(100, 6, 0, 300)}),
    "provider_p95_ms": replace(WELL, providers={"shopify": ProviderFigures(100, 0, 0, 5001)}),
}


def failed(measured: Measured, limits: Thresholds = LIMITS) -> list[HealthCheck]:
    return [check for check in checks_of(measured, limits) if not check.ok]


def test_all_is_well_within_the_thresholds() -> None:
    assert failed(WELL) == []
    # Nothing has happened yet: unknown figures pass.
    assert failed(Measured(workers=2)) == []


@pytest.mark.parametrize("name", OVER)
def test_each_threshold_is_a_check_of_its_own(name: str) -> None:
    (check,) = failed(OVER[name])
    assert check.name == name
    assert check.message
    assert "{" not in check.message
    assert status_of_checks([check]) == "degraded"


def test_every_threshold_has_a_check_and_a_setting() -> None:
    busy = replace(WELL, waiting=1, oldest_ms=700_000, ended_jobs=10)
    slow = [check.name for check in failed(busy)]
    assert slow == ["oldest_ms", "jobs_per_worker"]
    assert {*OVER, "jobs_per_worker"} == set(Thresholds.names())
    assert Settings().monitor_thresholds == Thresholds()


def test_three_problems_are_unhealthy() -> None:
    many = replace(WELL, depth=51, dead_letters=11, workers=0)
    assert status_of_checks(failed(many)) == "unhealthy"
    assert status_of_checks(failed(many)[:2]) == "degraded"
    assert [check.severity for check in failed(many)] == [
        Severity.WARNING, Severity.WARNING, Severity.CRITICAL,
    ]  # fmt: skip


def test_few_items_or_calls_say_nothing() -> None:
    few = replace(
        WELL, settled_items=10, retried_items=9, providers={"x": ProviderFigures(5, 5, 0, 9999)}
    )
    assert failed(few) == []


def test_a_few_jobs_say_nothing() -> None:
    few = JobFigures(1, 8, 0, 9, 1e9, 1e9, 1e9, 1e9, 1e9)
    assert failed(replace(WELL, jobs=few)) == []
    assert {one.name: one.value for one in checks_of(replace(WELL, jobs=few), LIMITS)}[
        "success_rate"
    ] == pytest.approx(1 / 9)
    enough = replace(few, failed=9)
    assert {one.name for one in failed(replace(WELL, jobs=enough))} == {
        "success_rate", "duration_ms", "p50_ms", "p95_ms", "p99_ms"
    }  # fmt: skip
    crawls = replace(LIMITS, overrides=parse_overrides(["crawl.success_rate=0.5"]))
    apart = replace(WELL, other_jobs=WELL.jobs, pipelines={"crawl": few})
    assert failed(apart, crawls) == []
    assert failed(replace(apart, pipelines={"crawl": enough}), crawls)
    picky = replace(LIMITS, least_jobs=1)
    (check,) = failed(replace(WELL, jobs=JobFigures(0, 1)), picky)
    assert (check.name, check.severity) == ("success_rate", Severity.WARNING)


@pytest.mark.parametrize(
    ("jobs", "severity"), [(JobFigures(0, 19), Severity.WARNING), (JobFigures(0, 20), "critical")]
)
def test_few_failed_jobs_are_not_critical(jobs: JobFigures, severity: str) -> None:
    (check,) = failed(replace(WELL, jobs=jobs))
    assert (check.name, check.severity) == ("success_rate", severity)
    assert check.message == "0% of the last hour's jobs succeeded; at least 90% should."


def test_pipelines_and_providers_have_thresholds_of_their_own() -> None:
    limits = replace(
        LIMITS,
        overrides=parse_overrides(["crawl.duration_ms=600000", "shopify.provider_p95_ms=9000"]),
    )
    slow = JobFigures(10, 0, 0, 10, 500_000)
    measured = replace(
        OVER["provider_p95_ms"], jobs=slow, other_jobs=WELL.jobs, pipelines={"crawl": slow}
    )
    assert failed(measured, limits) == []
    too_slow = replace(slow, duration_ms=600_001)
    (check,) = failed(replace(measured, pipelines={"crawl": too_slow}), limits)
    assert (check.key, check.scope) == ("duration_ms:crawl", "crawl")
    assert "Jobs of crawl took" in check.message
    for wrong in ("crawl=1", "crawl.depth=1", "crawl.duration_ms=soon"):
        with pytest.raises(ValueError, match=r"write|could not"):
            parse_overrides([wrong])


def test_the_runbook_has_a_section_for_every_check() -> None:
    text = (Path(__file__).parents[2] / "docs" / "runbook.md").read_text("utf-8")
    sections = {line[4:].replace(" ", "-") for line in text.splitlines() if line.startswith("### ")}
    wanted = {runbook_link("", camel(name)).removeprefix("#") for name in Thresholds.names()}
    assert wanted <= sections


def test_links_lead_to_the_section_of_the_check() -> None:
    assert runbook_link("docs/runbook.md", "deadLetters") == "docs/runbook.md#dead-letters"
    assert runbook_link("x", "dead_letters") == "x#dead-letters"
