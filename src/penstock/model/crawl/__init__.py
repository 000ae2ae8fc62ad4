"""Crawled pages as stages and the store see them, and the rules of robots.txt."""
