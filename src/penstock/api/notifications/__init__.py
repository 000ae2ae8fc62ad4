"""Targets of notifications, alerts and e-mails about jobs."""
