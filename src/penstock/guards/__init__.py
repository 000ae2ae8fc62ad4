"""Protection and limits: child processes, fetching, concurrency, sealing, disk space."""
