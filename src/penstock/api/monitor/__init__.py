"""Health, metrics and queues."""
