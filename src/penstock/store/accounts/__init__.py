"""Orgs, users, keys, sessions, the audit log and usage."""
