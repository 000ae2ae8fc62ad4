"""Look up rows and pictures in the catalog and in sources."""
