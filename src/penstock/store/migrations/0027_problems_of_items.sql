-- What was wrong with a row is asked for by every summary and every export, of documents ten times its
-- size that lie outside of the row. It is kept beside them. Old rows are given it by a column that is
-- generated for this once: one that stays so is worked out by a second copy of every row that is written.
ALTER TABLE job_items ADD COLUMN problems jsonb GENERATED ALWAYS AS (normalized->'problems') STORED;
ALTER TABLE job_items ALTER COLUMN problems DROP EXPRESSION;
