"""Edit products by hand, undo edits, and show the prices that a product had."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Request, Response
from pydantic import Field, StringConstraints

from penstock.api.catalog.product_schemas import FieldChange
from penstock.api.catalog.products import ProductId, no_such_product
from penstock.api.http.access import ApiParts, Reader, Writer, caller_of, parse_id
from penstock.api.http.answers import answer
from penstock.api.http.bodies import body_of, order_of
from penstock.api.http.schemas import Shape
from penstock.app.rows import product_edits as app
from penstock.catalog.products.editing import EDITABLE, edited
from penstock.catalog.products.matching import identifiers_of
from penstock.model.errors import NotThere
from penstock.store.catalog import catalog
from penstock.store.catalog.product_edits import price_points

router = APIRouter(tags=["products"])
_MOST_POINTS = 200
_EDITOR = app.Editor(edited, lambda data: identifiers_of(data).gtin)
_Value = Annotated[str, StringConstraints(max_length=20_000, pattern=r"^[^\x00]*$")]


class EditProduct(Shape):
    """New values of fields, as text in the form that the product has them; null empties one."""

    fields: dict[str, _Value | None] = Field(
        min_length=1,
        max_length=len(EDITABLE),
        description=f"By name: {', '.join(f'`{one}`' for one in EDITABLE)}.",
        examples=[{"title": "Claw hammer", "price.amount": "12.90"}],
    )
    version: int | None = Field(
        None, ge=1, description="The version that you saw: if it is another one, nothing changes."
    )


class ProductEdited(Shape):
    edit_id: UUID | None = Field(
        description="The edit that was made; null if nothing changed or the product was restored."
    )
    version: int
    changes: list[FieldChange]


class PricePointShape(Shape):
    at: datetime = Field(description="The price is this one from then on.")
    amount: str | None
    currency: str | None


class PriceHistory(Shape):
    items: list[PricePointShape] = Field(description="The earliest first, at most 200.")


async def _edit_id(edit_id: Annotated[str, Path(description="The edit's id.")]) -> UUID:
    parsed = parse_id(edit_id)
    if parsed is None:
        raise NotThere("NOT_FOUND", "There is no such edit of the product.")
    return parsed


EditId = Annotated[UUID, Depends(_edit_id)]


@router.patch(
    "/products/{product_id}",
    summary="Edit a product",
    responses={200: {"model": ProductEdited}},
    openapi_extra=body_of(EditProduct),
)
async def edit_product(
    request: Request, api: ApiParts, who: Writer, product_id: ProductId
) -> Response:
    """Set fields of a product. Imports do not change these fields until the edit is undone; the row
    of the import shows the value of the file."""
    order = await order_of(request, EditProduct)
    async with api.db.scoped(who.scope) as conn:
        done = await app.edit_product(
            conn, caller_of(request, who), _EDITOR, product_id, order.fields, order.version
        )
    return answer(_edited(done))


@router.post(
    "/products/{product_id}/edits/{edit_id}/undo",
    summary="Undo an edit",
    responses={200: {"model": ProductEdited}},
)
async def undo_product_edit(
    request: Request, api: ApiParts, who: Writer, product_id: ProductId, edit_id: EditId
) -> Response:
    """Restore the product as it was before the edit. If it changed since then, only fields that
    still have the edited value are restored. Imports change these fields again."""
    async with api.db.scoped(who.scope) as conn:
        done = await app.undo_edit(conn, caller_of(request, who), _EDITOR, product_id, edit_id)
    return answer(_edited(done))


@router.get(
    "/products/{product_id}/prices",
    summary="Show the prices that a product had",
    responses={200: {"model": PriceHistory}},
)
async def show_prices(api: ApiParts, who: Reader, product_id: ProductId) -> Response:
    """The price after each known change. Undone changes are left out."""
    async with api.db.scoped(who.scope, readonly=True) as conn:
        if await catalog.get(conn, product_id) is None:
            raise no_such_product()
        points = await price_points(conn, product_id, _MOST_POINTS)
    items: list[dict[str, Any]] = []
    for point in points:
        price = point.price or {}
        shown = {"amount": price.get("amount"), "currency": price.get("currency")}
        if not items or shown != {name: items[-1][name] for name in shown}:
            items.append({"at": point.at, **shown})
    return answer({"items": items})


def _edited(done: app.Edited) -> dict[str, Any]:
    return {
        "editId": None if done.edit_id is None else str(done.edit_id), "version": done.version,
        "changes": [one._asdict() for one in done.changes],
    }  # fmt: skip
