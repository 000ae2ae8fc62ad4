"""Use cases: what the API and the command line both do, each in one place."""
