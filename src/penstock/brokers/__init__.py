"""What wakes a worker, never the truth."""
