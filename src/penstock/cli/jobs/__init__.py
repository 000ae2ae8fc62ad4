"""Commands for jobs, items, lanes and dead letters."""
