"""The text that Prometheus reads. Its format is small enough to write ourselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from penstock.api.monitor.metric_table import METRICS
from penstock.model.monitor.histogram import cumulative

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Sample = tuple[Mapping[str, str], float | int]


class Exposition:
    """Metrics in the order they are added, each with its help, type and samples."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(self, name: str, samples: Iterable[Sample]) -> None:
        """Add a metric of the table; one without samples is left out."""
        metric = METRICS[name]
        # Integers in full: with six digits a counter would not seem to change.
        lines = [f"{name}{_labels(labels)} {value!r}" for labels, value in samples]
        if lines:
            self._lines += [f"# HELP {name} {metric.about}", f"# TYPE {name} {metric.kind}", *lines]

    def add_histogram(self, name: str, samples: Iterable[tuple[str, Sample]]) -> None:
        """Samples with their suffix: `_bucket`, `_sum` or `_count`."""
        lines = [
            f"{name}{suffix}{_labels(labels)} {value!r}" for suffix, (labels, value) in samples
        ]
        if lines:
            self._lines += [
                f"# HELP {name} {METRICS[name].about}",
                f"# TYPE {name} histogram",
                *lines,
            ]

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"


def histogram_samples(
    labels: Mapping[str, str], one: Mapping[str, Any]
) -> Iterator[tuple[str, Sample]]:
    """The samples of a histogram in a snapshot of `HistogramSet`."""
    buckets = cumulative(one["counts"])
    for bound, count in buckets:
        yield "_bucket", ({**labels, "le": bound}, count)
    yield "_sum", (labels, one["sum"])
    yield "_count", (labels, buckets[-1][1])


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items())
    return "{" + ",".join(pairs) + "}"
