"""Send exports to places and URLs."""
