"""Changes of rows of a job. Pure."""
