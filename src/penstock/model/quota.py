"""Storage quotas and usage of orgs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """Storage used by an org: bytes of its files, and rows of its jobs with their input bytes."""

    file_bytes: int = 0
    rows: int = 0
    row_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Quota:
    """Storage limits of an org; None: unlimited."""

    file_bytes: int | None = None
    rows: int | None = None
    row_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ResearchQuota:
    """Research requests per day and month, of each user and of the org; None: unlimited."""

    user_day: int | None = None
    user_month: int | None = None
    org_day: int | None = None
    org_month: int | None = None
