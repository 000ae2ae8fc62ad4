"""Changes a stage asks for. Stages write nothing themselves: settle does, under the fence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Emit:
    """Write an event of the job, with the settle or not at all."""

    event: str
    data: Mapping[str, Any] = field(default_factory=dict)


Effect = Emit
