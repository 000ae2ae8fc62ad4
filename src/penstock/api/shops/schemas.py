"""Connections to shops as the API takes and shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from penstock.api.http.answers import stored
from penstock.api.http.schemas import PRINTABLE, OrgQuery, Shape
from penstock.app.owned import may_change
from penstock.app.shops.connections import (
    ConnectionOrder,
    ConnectionTestResult,
    details_of,
    source_of,
)
from penstock.app.shops.install import InstallOrder
from penstock.model.errors import error_shape
from penstock.model.shops.products import ShopProduct
from penstock.model.shops.provider import Provider
from penstock.store.accounts.audit_log import Caller
from penstock.store.shops.connections import ConnectionRow

_NEXT = "Pass as `after` for the next page; null on the last."
_NAME = "What it is called in lists; left out: the shop's host."
_CREDENTIALS = "By the names of the provider's fields. They are stored encrypted and never shown."


class NewConnection(Shape):
    name: str = Field("", max_length=200, pattern=PRINTABLE, description=_NAME)
    provider: str = Field(max_length=50, description="`shopify`, `woocommerce` or `roastify`.")
    address: str = Field("", max_length=1000, description="The shop's address.")
    credentials: dict[str, str] = Field(max_length=20, description=_CREDENTIALS)

    def order(self) -> ConnectionOrder:
        return ConnectionOrder(self.name, self.provider, self.address, self.credentials)


class ChangedConnection(Shape):
    """The address cannot change: the credentials would go to another server."""

    name: str = Field(min_length=1, max_length=200, pattern=PRINTABLE)


class NewCredentials(Shape):
    credentials: dict[str, str] = Field(max_length=20, description=_CREDENTIALS)
    test: bool = Field(
        True, description="False stores them without asking the shop, which may be out of reach."
    )


class DemoOrder(Shape):
    provider: str | None = Field(None, max_length=50, description="Left out: all three.")


class NewInstall(Shape):
    name: str = Field("", max_length=200, pattern=PRINTABLE, description=_NAME)
    provider: str = Field("shopify", max_length=50)
    address: str = Field(max_length=1000, description="The shop's address.")
    return_to: str = Field(
        max_length=1000, description="The UI's page `/connections/install`, as the browser sees it."
    )

    def order(self) -> InstallOrder:
        return InstallOrder(self.name, self.provider, self.address, self.return_to)


class InstallAnswer(Shape):
    parameters: dict[str, str] = Field(
        max_length=20, description="What the provider added to the address of the page."
    )


class InstallShape(Shape):
    url: str = Field(description="Send the browser there.")


class ProblemShape(Shape):
    code: str
    message: str


class ConnectionShape(Shape):
    id: UUID
    org: str
    user_id: int = Field(description="Its creator, who may change it, as may admins.")
    provider: str
    name: str
    address: str
    source: str = Field(description="The source of its products in the catalog.")
    status: Literal["untested", "ok", "error"] = Field(description="By the last test or import.")
    details: dict[str, Any] = Field(description="What the last successful test found out.")
    error: ProblemShape | None = Field(description="Why the last test or import failed.")
    tested_at: datetime | None
    synced_at: datetime | None = Field(description="When the last import completed.")
    last_job_id: UUID | None = Field(description="The last import.")
    webhook_path: str = Field(description="Where the shop may post changes of products to.")
    may_change: bool
    created_at: datetime
    updated_at: datetime


class ConnectionPage(Shape):
    items: list[ConnectionShape]
    next: str | None = Field(description=_NEXT)


class ConnectionsQuery(OrgQuery):
    page_size: int = Field(50, ge=1, le=200)
    after: str = Field("", description="`next` of the page before.")


class ShopShape(Shape):
    name: str
    currency: str | None
    products: int | None = Field(description="How many products it has, if it tells.")


class ConnectionTestShape(Shape):
    ok: bool
    shop: ShopShape | None
    error: ProblemShape | None


class DeletedConnection(Shape):
    id: UUID
    products_kept: int = Field(description="Products of this shop that stay in the catalog.")


class CredentialShape(Shape):
    name: str
    label: str
    required: bool
    help: str


class ProviderKind(Shape):
    key: str
    title: str
    address_help: str
    credential_fields: list[CredentialShape]
    incremental: bool = Field(description="Whether an import can ask for changed products only.")
    install: bool = Field(description="Whether a shop can be connected without a token.")


class ProviderKinds(Shape):
    items: list[ProviderKind]
    demo: bool = Field(description="Whether this server may connect a sandbox.")


class BrowseQuery(Shape):
    q: str = Field("", max_length=200, pattern=PRINTABLE, description="Words of the title.")
    after: str = Field("", description="`next` of the page before.")


class ShopProductShape(Shape):
    id: str
    title: str
    status: Literal["active", "draft", "archived"]
    vendor: str | None
    product_type: str | None
    sku: str | None
    price: str | None
    currency: str | None
    variants: int | None = Field(description="Null where the shop's list does not tell.")
    image_url: str | None
    updated_at: datetime | None


class ShopProductPage(Shape):
    items: list[ShopProductShape]
    next: str | None = Field(description=_NEXT)
    total: int | None = Field(description="How many match, if the shop tells.")


def connection_shape(row: ConnectionRow, caller: Caller) -> dict[str, Any]:
    status = "error" if row.error else "ok" if row.tested_at else "untested"
    return {
        "id": str(row.id),
        "org": row.org,
        "userId": row.user_id,
        "provider": row.provider,
        "name": row.name,
        "address": row.address,
        "source": source_of(row),
        "status": status,
        "details": details_of(row),
        "error": stored(row.error),
        "testedAt": row.tested_at,
        "syncedAt": row.synced_at,
        "lastJobId": None if row.last_job is None else str(row.last_job),
        "webhookPath": f"/api/connections/{row.id}/webhook",
        "mayChange": may_change(caller, row),
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
    }


def test_shape(result: ConnectionTestResult) -> dict[str, Any]:
    info = result.info
    shop = None
    if info is not None:
        shop = {"name": info.name, "currency": info.currency, "products": info.products}
    error = None if result.error is None else error_shape(result.error)
    return {"ok": info is not None, "shop": shop, "error": error}


def kind_shape(provider: Provider, *, installs: bool) -> dict[str, Any]:
    return {
        "key": provider.key,
        "title": provider.title,
        "addressHelp": provider.address_help,
        "credentialFields": [
            {"name": one.name, "label": one.label, "required": one.required, "help": one.help}
            for one in provider.credential_fields
        ],
        "incremental": provider.incremental,
        "install": installs and provider.install is not None,
    }


def product_shape(product: ShopProduct) -> dict[str, Any]:
    first = product.variants[0] if product.variants else None
    return {
        "id": product.id,
        "title": product.title,
        "status": product.status,
        "vendor": product.vendor,
        "productType": product.product_type,
        "sku": first.sku if first else None,
        "price": str(first.price) if first and first.price is not None else None,
        "currency": product.currency,
        "variants": len(product.variants) if product.complete else None,
        "imageUrl": product.images[0].url if product.images else None,
        "updatedAt": product.updated_at,
    }
