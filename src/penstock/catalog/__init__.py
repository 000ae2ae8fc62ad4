"""What Penstock knows of products: pure functions from text to normalised values.

`mapping.propose` finds out which column is what, `profile.Profile` keeps that per supplier,
`plan.compile_plan` turns it into steps once per job, and `normalise.normalise` makes one product of
one row. Nothing here reads a file, a clock or a database.
"""
