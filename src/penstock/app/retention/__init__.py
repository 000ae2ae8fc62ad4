"""Retention: policies of orgs, and what is deleted."""
