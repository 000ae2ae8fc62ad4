"""Submit, ingest, claim, run, settle, finish, sweep: one row's way."""
