"""The expressions of mapping rules: paths, constants, lookups, arithmetic, text and date functions.

`parse` turns a text into a tree once, and `evaluate` runs it on a record. There is no access to
attributes, modules or loops; the length, depth, steps and results of an expression are bounded.
"""
