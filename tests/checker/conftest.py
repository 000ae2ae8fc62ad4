"""The engine under test with scripted pipelines, and the history of all changes."""

from __future__ import annotations

from tests.checker.benches import has_history, runtime, scripted, tried

__all__ = ["has_history", "runtime", "scripted", "tried"]
