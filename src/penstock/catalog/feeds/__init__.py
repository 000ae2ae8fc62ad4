"""Products as feeds of other services."""
