"""Commands that read files: read, preview, extract."""
