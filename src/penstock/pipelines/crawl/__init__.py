"""Crawl pages of companies, and extract products and job postings."""
