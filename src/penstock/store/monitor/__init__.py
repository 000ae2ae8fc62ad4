"""Metrics of jobs, health checks and alerts."""
