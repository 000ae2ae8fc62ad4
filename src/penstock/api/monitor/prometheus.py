"""The text that Prometheus reads. Its format is small enough to write ourselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Sample = tuple[Mapping[str, str], float | int]


class Exposition:
    """Metrics in the order they are added, each with its help, type and samples."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(
        self, kind: Literal["gauge", "counter"], name: str, about: str, samples: Iterable[Sample]
    ) -> None:
        """One without samples is left out."""
        # Whole numbers as they are: six digits would make a counter stand still.
        lines = [f"{name}{_labels(labels)} {value!r}" for labels, value in samples]
        if lines:
            self._lines += [f"# HELP {name} {about}", f"# TYPE {name} {kind}", *lines]

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items())
    return "{" + ",".join(pairs) + "}"
