"""Providers and shops over HTTP."""
