"""One cell to one value: numbers, prices, dates, units, identifiers and the like."""
