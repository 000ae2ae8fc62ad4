"""Schedules: what users set, and how runs begin."""
