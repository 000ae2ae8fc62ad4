"""All files of shops, by the name that an export asks for."""

from __future__ import annotations

from penstock.catalog.shop_files.akeneo import AKENEO
from penstock.catalog.shop_files.magento import MAGENTO
from penstock.catalog.shop_files.prestashop import PRESTASHOP, PRESTASHOP_COMBINATIONS
from penstock.catalog.shop_files.shop_file import ShopFile
from penstock.catalog.shop_files.shopify import SHOPIFY
from penstock.catalog.shop_files.woocommerce import WOOCOMMERCE

SHOP_FILES: dict[str, ShopFile] = {
    one.name: one
    for one in (SHOPIFY, WOOCOMMERCE, MAGENTO, PRESTASHOP, PRESTASHOP_COMBINATIONS, AKENEO)
}
