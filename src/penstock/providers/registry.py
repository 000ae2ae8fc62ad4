"""All providers. A new one is a module here or an entry point of another package."""

from __future__ import annotations

from importlib.metadata import entry_points

from penstock.providers.base import Provider
from penstock.providers.roastify import Roastify
from penstock.providers.shopify.provider import Shopify
from penstock.providers.woocommerce.provider import WooCommerce

ENTRY_POINTS = "penstock.providers"

PROVIDERS: tuple[Provider, ...] = (
    Shopify(),
    WooCommerce(),
    Roastify(),
    *(found.load()() for found in entry_points(group=ENTRY_POINTS)),
)
