"""Crawl runs, pages and job postings over HTTP."""
