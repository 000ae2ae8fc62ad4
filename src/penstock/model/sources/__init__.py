"""Sources: product APIs that are described by configuration alone."""
