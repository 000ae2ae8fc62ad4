"""Places outside of Penstock that files are read from and written to."""
