"""Find the product that a row or a picture means: queries, scores and the order of tries."""
