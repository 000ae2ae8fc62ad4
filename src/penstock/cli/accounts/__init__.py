"""Commands for orgs, users, keys and sessions."""
