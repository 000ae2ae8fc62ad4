"""Jobs, items, slices and events."""
