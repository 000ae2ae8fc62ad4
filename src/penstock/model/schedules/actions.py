"""What a schedule does when it is due. Stored as JSON, and checked again each time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter, ValidationError

from penstock.model.crawl.plan import CompanyOrder, PageUrl
from penstock.model.errors import BadInput
from penstock.model.exports.order import ExportConfig
from penstock.model.fairness import DEFAULT_PRIORITY, MAX_PRIORITY
from penstock.model.pipeline import Config
from penstock.model.text.wrong_input import reason_of

JobPriority = Annotated[int, Field(ge=0, le=MAX_PRIORITY)]


class JobAction(Config):
    """An action that submits a job."""

    priority: JobPriority = DEFAULT_PRIORITY
    config: dict[str, Any] = Field(default_factory=dict)


class FileAction(JobAction):
    """Fetch a file by its URL and submit it."""

    kind: Literal["file"]
    url: PageUrl
    pipeline: str = Field("extraction", min_length=1, max_length=100)
    profile: str | None = Field(None, min_length=1, max_length=100)


class ShopAction(JobAction):
    """Import the products of a connected shop: those that changed since the last import, or all."""

    kind: Literal["shop"]
    connection_id: UUID
    all: bool = False


class CrawlAction(JobAction):
    """Crawl pages of companies."""

    kind: Literal["crawl"]
    companies: list[CompanyOrder] = Field(min_length=1, max_length=1000)


class ResearchAction(JobAction):
    """Ask sources for products."""

    kind: Literal["research"]
    query: str = Field(min_length=1, max_length=500)
    sources: list[str] | None = Field(None, min_length=1, max_length=100)


class ScanAction(Config):
    """Look for new files in the place of a watcher, or in those of all watchers of the org."""

    kind: Literal["scan"]
    watcher_id: UUID | None = None


class ExportAction(ExportConfig):
    """Send products or the results of a job to a watched place or a URL."""

    kind: Literal["export"]
    priority: JobPriority = DEFAULT_PRIORITY

    def config(self) -> dict[str, Any]:
        """The config of the export's job."""
        left_out = {"kind", "priority"}
        given: dict[str, Any] = self.model_dump(
            mode="json", by_alias=True, exclude_unset=True, exclude=left_out
        )
        return given


Action = FileAction | ShopAction | CrawlAction | ResearchAction | ScanAction | ExportAction
KINDS = ("file", "shop", "crawl", "research", "scan", "export")
_ACTION: TypeAdapter[Action] = TypeAdapter(Annotated[Action, Field(discriminator="kind")])


def parse_action(given: Mapping[str, Any]) -> Action:
    """Raise INVALID_PARAMETERS that names the field."""
    try:
        return _ACTION.validate_python(dict(given))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] in ("union_tag_invalid", "union_tag_not_found"):
            raise BadInput(
                "INVALID_PARAMETERS", f"action.kind: use one of {', '.join(KINDS)}."
            ) from error
        # The first part is the kind.
        where = ".".join(("action", *(str(part) for part in first["loc"][1:])))
        if first["type"] == "extra_forbidden":
            raise BadInput("UNKNOWN_FIELD", f"{where}: there is no such field.") from error
        raise BadInput("INVALID_PARAMETERS", f"{where}: {reason_of(first)}.") from error


def action_json(action: Action) -> str:
    """The action as it is stored, without defaults."""
    return action.model_dump_json(by_alias=True, exclude_unset=True)
