"""Web pages into products and job postings."""

from penstock.catalog.pages.extract import PageData, extract_page

__all__ = ["PageData", "extract_page"]
