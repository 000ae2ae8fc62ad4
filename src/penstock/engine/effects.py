"""Finds the writer of an effect by its type."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.model.effects import Effect, EffectWriter, JobEffectWriter, SetPace
from penstock.store.effects import WRITERS


class EffectRegistry:
    """The installation's writers, by the exact type of the effect."""

    def __init__(self, writers: Iterable[EffectWriter | JobEffectWriter] = WRITERS) -> None:
        self._writers: dict[type[Effect], EffectWriter] = {}
        self._job_writers: dict[type[Effect], JobEffectWriter] = {}
        for writer in writers:
            if writer.effect in self._writers or writer.effect in self._job_writers:
                raise ValueError(f"two writers for the effect {writer.effect.__name__}")
            if isinstance(writer, EffectWriter):
                self._writers[writer.effect] = writer
            else:
                self._job_writers[writer.effect] = writer

    def check(self, effect: Any) -> Any:
        """The effect as it will be stored, or an error that fails the item."""
        if isinstance(effect, SetPace):
            # The settle applies it itself.
            return effect
        return self.writer(effect).check(effect)

    def writer(self, effect: Any) -> EffectWriter:
        try:
            return self._writers[type(effect)]
        except KeyError:
            raise ValueError(f"no writer for the effect {type(effect).__name__}") from None

    def job_writer(self, effect: Any) -> JobEffectWriter:
        try:
            return self._job_writers[type(effect)]
        except KeyError:
            raise ValueError(f"no writer for the job effect {type(effect).__name__}") from None

    def tables(self) -> list[str]:
        """SQL for tables that writers of other packages bring along."""
        return [writer.tables for writer in self._writers.values() if writer.tables]
