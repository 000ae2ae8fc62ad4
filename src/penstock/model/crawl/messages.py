"""Messages of the queues that feed the stages of a crawl. Pure.

    {"run_id": "…", "user_id": 456, "company": "acme", "external_id": "jobs/123456"}

The group of a message is its company, so that a FIFO queue hands out the pages of a company one
after the other; its deduplication id is `{run_id}-{company}-{external_id}`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson

from penstock.model.crawl.plan import page_key
from penstock.model.errors import BadInput

# What Amazon SQS takes as ids of groups and for deduplication.
_ID = re.compile(r"[A-Za-z0-9!-/:-@\[-`{-~]{1,128}")


@dataclass(frozen=True, slots=True)
class PageMessage:
    """A page of a run that a stage shall work on."""

    run_id: UUID
    user_id: int
    company: str
    external_id: str

    def body(self) -> str:
        told = {
            "run_id": str(self.run_id), "user_id": self.user_id, "company": self.company,
            "external_id": self.external_id,
        }  # fmt: skip
        return orjson.dumps(told).decode()

    @property
    def group_id(self) -> str:
        return _fitting(self.company)

    @property
    def deduplication_id(self) -> str:
        return _fitting(f"{self.run_id}-{self.company}-{self.external_id}")

    @property
    def key(self) -> str:
        """The key of the item."""
        return page_key(self.company, self.external_id)

    @staticmethod
    def of_body(body: str | bytes) -> PageMessage:
        try:
            told: Any = orjson.loads(body)
            return _message(told)
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadInput("INVALID_PARAMETERS", f"Not a message of a crawl: {error}") from error


def _message(told: Mapping[str, Any]) -> PageMessage:
    company, external_id = told["company"], told["external_id"]
    if not isinstance(company, str) or not isinstance(external_id, str):
        raise TypeError("company and external_id are texts")
    return PageMessage(UUID(told["run_id"]), int(told["user_id"]), company, external_id)


def _fitting(name: str) -> str:
    """The name itself, or its hash where a queue would refuse it."""
    return name if _ID.fullmatch(name) else sha256(name.encode()).hexdigest()
