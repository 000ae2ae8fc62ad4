"""What an export contains, how its file is called, and where it goes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, get_args
from uuid import UUID

from pydantic import Field, model_validator

from penstock.model.crawl.plan import PageUrl
from penstock.model.pipeline import Config
from penstock.model.places.names import check_name

PIPELINE = "export"
ShopFormat = Literal[
    "shopify", "woocommerce", "magento", "prestashop", "prestashop-combinations", "akeneo"
]
Format = Literal["csv", "xlsx", "json", "ndjson"] | ShopFormat
# Files that shop systems import, with whole products.
SHOP_FORMATS: tuple[str, ...] = get_args(ShopFormat)
_PLACEHOLDERS = {"{date}": "%Y-%m-%d", "{time}": "%H%M%S"}


class ExportTarget(Config):
    """A watched place, or a URL that the file is uploaded to."""

    watcher_id: UUID | None = Field(None, description="The place of this watcher.")
    url: PageUrl | None = Field(
        None, description="The file is sent there, signed with the org's secret."
    )
    method: Literal["POST", "PUT"] = Field("POST", description="For `url`.")

    @model_validator(mode="after")
    def _one_of_two(self) -> ExportTarget:
        if (self.watcher_id is None) == (self.url is None):
            raise ValueError("give exactly one of watcherId and url")
        return self


class ExportConfig(Config):
    """Products of the catalog, or the results of a job."""

    what: Literal["products", "job"] = "products"
    job_id: UUID | None = Field(None, description="The job, if `what` is `job`.")
    source: str | None = Field(None, min_length=1, max_length=200, description="Of products.")
    status: Literal["published", "unpublished"] | None = Field(None, description="Of products.")
    format: Format = Field(
        "csv",
        description="In the file of a shop system are whole products; of a job, those it wrote.",
    )
    file_name: str = Field(
        "", max_length=200, description="`{date}` and `{time}` are replaced by those in UTC."
    )
    to: ExportTarget

    @model_validator(mode="after")
    def _consistent(self) -> ExportConfig:
        if (self.what == "job") != (self.job_id is not None):
            raise ValueError("jobId belongs to `what`: job, and only to that")
        why = check_name(self.name_at(datetime(2026, 1, 1)))
        if why is not None:
            raise ValueError(f"fileName: {why}")
        return self

    def name_at(self, moment: datetime) -> str:
        """The name of a file that is written at this time."""
        name = self.file_name
        if not name and self.format in SHOP_FORMATS:
            name = f"{self.what}-{self.format}-{{date}}.csv"
        elif not name:
            name = f"{self.what}-{{date}}.{self.format}"
        for placeholder, pattern in _PLACEHOLDERS.items():
            name = name.replace(placeholder, moment.strftime(pattern))
        return name


@dataclass(frozen=True, slots=True)
class SentExport:
    """What was sent. ``to`` is the address without secrets."""

    name: str
    size: int
    to: str


class ExportSender(Protocol):
    """Writes an export and sends it."""

    async def send(self, org_id: int, job_id: UUID, config: ExportConfig) -> SentExport:
        """Raises an error of the place, the URL or what is exported."""
