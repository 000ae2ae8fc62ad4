"""Use cases of crawls: runs, pages, postings and the preview of a page."""
