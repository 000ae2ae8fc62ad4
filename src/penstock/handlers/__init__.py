"""Functions that a queue calls with its messages, such as AWS Lambda with those of Amazon SQS."""

from penstock.handlers.crawl import crawl_message, extract_message

__all__ = ["crawl_message", "extract_message"]
