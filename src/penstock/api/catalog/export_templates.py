"""Templates of exports: choose, order and rename columns."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import Field, model_validator

from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, org_of
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.schemas import PRINTABLE, OrgQuery, Shape
from penstock.app.rows import export_templates as app
from penstock.catalog.products.grid import ALL_COLUMNS
from penstock.model.exports.templates import ExportTemplate
from penstock.store.catalog import export_templates as store

router = APIRouter(tags=["products"])
Name = Annotated[str, Path(min_length=1, max_length=100, description="The template's name.")]
_Column = Annotated[str, Field(min_length=1, max_length=200, pattern=PRINTABLE)]


class TemplateColumn(Shape):
    column: _Column = Field(description="A column of the export, or `option:NAME` of a variant.")
    name: _Column = Field(description="Its name in the file.")


class TemplateOrder(Shape):
    columns: list[TemplateColumn] = Field(
        min_length=1,
        max_length=200,
        examples=[[{"column": "sku", "name": "Artikelnummer"}]],
    )
    variants: Literal["text", "rows", "columns"] = Field(
        "text",
        description="Variants of products in one cell, as rows, or as columns.",
    )

    @model_validator(mode="after")
    def _names_differ(self) -> TemplateOrder:
        names = [one.name for one in self.columns]
        if len(set(names)) < len(names):
            raise ValueError("two columns have the same name")
        return self


class TemplateShape(TemplateOrder):
    name: str


class ListedTemplate(TemplateShape):
    updated_at: datetime


class TemplateList(Shape):
    items: list[ListedTemplate]
    known_columns: list[str] = Field(description="Columns that an export of products has.")


@router.get(
    "/export-templates", summary="List export templates", responses={200: {"model": TemplateList}}
)
async def list_templates(
    api: ApiParts, who: Reader, query: Annotated[OrgQuery, Query()]
) -> Response:
    """By name."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        found = await store.list_templates(conn, await org_of(conn, who, query.org))
    items = [{**_shown(one.template), "updatedAt": one.updated_at} for one in found]
    return answer({"items": items, "knownColumns": list(ALL_COLUMNS)})


@router.put(
    "/export-templates/{name}",
    summary="Save an export template",
    responses={200: {"model": TemplateShape}},
    openapi_extra=body_of(TemplateOrder),
)
async def save_template(
    request: Request, api: ApiParts, who: Writer, name: Name, query: Annotated[OrgQuery, Query()]
) -> Response:
    """Exports use it with `template=NAME`."""
    order = await order_of(request, TemplateOrder)
    template = ExportTemplate.of_json(name, order.model_dump(by_alias=True))
    async with api.db.scoped(who.scope) as conn:
        org_id = await org_of(conn, who, query.org)
        await app.save_template(conn, caller_of(request, who), org_id, template)
    return answer(_shown(template))


@router.delete("/export-templates/{name}", status_code=204, summary="Delete an export template")
async def delete_template(
    request: Request, api: ApiParts, who: Writer, name: Name, query: Annotated[OrgQuery, Query()]
) -> Response:
    """Exports and feeds made before are not changed."""
    async with api.db.scoped(who.scope) as conn:
        org_id = await org_of(conn, who, query.org)
        await app.delete_template(conn, caller_of(request, who), org_id, name)
    return Response(status_code=204)


def _shown(template: ExportTemplate) -> dict[str, Any]:
    return {"name": template.name, **template.as_json()}
