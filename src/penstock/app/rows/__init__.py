"""Change rows of a job: fix one row, edit many, remap all."""
