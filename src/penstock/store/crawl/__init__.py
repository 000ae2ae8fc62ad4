"""Crawled pages, rules of robots.txt, and job postings."""
