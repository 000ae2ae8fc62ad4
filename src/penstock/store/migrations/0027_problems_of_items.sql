-- What was wrong with a row is asked for by every summary and every export, of documents ten times its
-- size that lie outside of the row. The database keeps it beside them; old rows have it by this, too.
ALTER TABLE job_items ADD COLUMN problems jsonb GENERATED ALWAYS AS (normalized->'problems') STORED;
