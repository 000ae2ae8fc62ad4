-- name: ingest_batch
-- Counters of a stored batch and the cursor after it, in the transaction of the batch.
UPDATE jobs SET ingest_cursor = $2::jsonb, bytes_read = $3, bytes_total = $4,
    header = coalesce($5::jsonb, header), grouped = grouped OR $6
WHERE id = $1

-- name: learn_row_bytes
-- Average size of a row, so that claims stay inside their bound of bytes.
UPDATE job_stages SET avg_bytes = coalesce(avg_bytes + 0.3 * ($2 - avg_bytes), $2)
WHERE job_id = $1 AND position = 0

-- name: end_ingest
-- All rows are stored. The context computed from the input is kept for the stages.
UPDATE jobs SET ingest_done = true, context = context || $2::jsonb, labels = $3::jsonb,
    bytes_read = bytes_total, attempts = 0, first_failed_at = NULL
WHERE id = $1

-- name: open_first_stage
-- A first stage that needs the whole input becomes ready.
UPDATE job_stages SET ready_at = now() WHERE job_id = $1 AND position = 0 AND pending > 0

-- name: end_reading
-- The ingest has stored its last row.
UPDATE job_stages SET moved_at = now() WHERE job_id = $1 AND kind = 'ingest'

-- name: yield_stage
-- Ingest or finish continues later, from its cursor: after yielding to others, or after a failure.
UPDATE job_stages SET ready_at = now() + $3 * interval '1 millisecond'
WHERE job_id = $1 AND position = $2

-- name: yield_job
-- … and its job with it; the job shows a failure that will be retried.
UPDATE jobs j SET attempts = $2, last_error = coalesce($3::jsonb, j.last_error), updated_at = now(),
    first_failed_at = CASE WHEN $3::jsonb IS NULL THEN j.first_failed_at
                           ELSE coalesce(j.first_failed_at, now()) END,
    served_at = now(), state = CASE WHEN j.state = 'running' AND $3::jsonb IS NOT NULL
        AND j.processing = 0 THEN 'queued' ELSE j.state END,
    ready_at = (SELECT min(ready_at) FROM job_stages WHERE job_id = j.id)
WHERE j.id = $1

-- name: rows_stored
-- Rows the ingest has stored so far, read under the job's lock by pipelines with children.
SELECT total FROM jobs WHERE id = $1 FOR NO KEY UPDATE

-- name: saved_cursor
-- The cursor of the ingest and the number of stored rows.
SELECT ingest_cursor, total FROM jobs WHERE id = $1

-- name: forgive_crashes
-- A batch was stored, so earlier crashes of this ingest were not caused by its input.
UPDATE job_stages SET crashes = 0 WHERE job_id = $1 AND kind = 'ingest' AND crashes > 0
