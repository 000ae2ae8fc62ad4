"""Every pipeline there is. A new one is one file here, or an entry point of another package."""

from __future__ import annotations

from importlib.metadata import entry_points

from penstock.model.errors import BadInput
from penstock.model.pipeline import Pipeline
from penstock.pipelines.extraction import Extraction
from penstock.pipelines.noop import Noop, NoopWhole

ENTRY_POINTS = "penstock.pipelines"

PIPELINES: tuple[Pipeline, ...] = (
    Extraction(),
    Noop(),
    NoopWhole(),
    *(found.load()() for found in entry_points(group=ENTRY_POINTS)),
)

_BY_NAME = {pipeline.name: pipeline for pipeline in PIPELINES}


def by_name(name: str) -> Pipeline:
    try:
        return _BY_NAME[name]
    except KeyError:
        known = ", ".join(_BY_NAME)
        raise BadInput(
            "INVALID_PARAMETERS", f"There is no pipeline {name!r}. There are: {known}"
        ) from None
