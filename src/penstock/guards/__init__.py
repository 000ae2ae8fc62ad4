"""Bounds around what may go wrong: child processes with limits."""
