"""The way of an item: submit, ingest, claim, run, settle, finish, reprocess."""
