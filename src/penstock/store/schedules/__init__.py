"""Schedules and their runs."""
