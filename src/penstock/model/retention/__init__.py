"""How long things are kept."""
