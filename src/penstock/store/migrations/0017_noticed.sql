-- What the reader noticed of a row goes with it, however often the row is worked through.
ALTER TABLE job_items ADD COLUMN noticed jsonb;
