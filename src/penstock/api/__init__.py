"""JSON over HTTP, one file per resource, straight from the store."""
