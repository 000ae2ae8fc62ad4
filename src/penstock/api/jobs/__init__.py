"""Jobs and their items: create, list, control, fix, export."""
