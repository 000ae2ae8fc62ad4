"""Figures: goals against a baseline of the same run, and the decisions behind the design."""
