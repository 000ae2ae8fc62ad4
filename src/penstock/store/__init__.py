"""The only SQL: named statements in `sql/`, numbered migrations, one module per table family."""
