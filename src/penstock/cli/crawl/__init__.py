"""Commands of crawls."""
