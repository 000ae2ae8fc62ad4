"""Product knowledge: pure functions from text to normalised products.

values     one cell to one value
mapping    columns to fields: `proposal.propose`
profiles   mapping and checks for the files of one supplier: `profile.Profile`
products   rows to products: `plan.compile_plan` once per job, `normalise.normalise` per row
data       word lists, read once by `word_lists`

Nothing here reads a clock, a database or any other file.
"""
