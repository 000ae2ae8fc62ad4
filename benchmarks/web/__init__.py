"""Web pages with truth: product names, job postings."""
