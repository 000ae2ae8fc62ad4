"""Orgs, users, keys, sessions and the audit log."""
