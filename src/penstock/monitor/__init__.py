"""Health checks, metrics, alerts and notifications."""
