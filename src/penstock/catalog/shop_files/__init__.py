"""Products as lines of the files that shop systems import: pure functions, one module a system."""
