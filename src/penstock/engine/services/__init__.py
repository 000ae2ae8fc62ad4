"""The leader, and the background services it runs."""
