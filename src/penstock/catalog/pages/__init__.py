"""Web pages into products and job postings."""

from penstock.catalog.pages.decode import decode_page
from penstock.catalog.pages.extract import PageData, extract_page

__all__ = ["PageData", "decode_page", "extract_page"]
