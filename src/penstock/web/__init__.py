"""The web UI as it was built: files from `dist/`, served by the API's process."""
