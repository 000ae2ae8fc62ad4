-- name: pause_job
-- Pause a job: running slices settle, nothing more is claimed.
UPDATE jobs SET paused = true, updated_at = now(), seq = seq + 1
WHERE id = $1 AND state IN ('queued', 'running') AND NOT paused
RETURNING id, org_id, seq, lane

-- name: resume_job
-- Resume a paused job.
UPDATE jobs SET paused = false, updated_at = now(), seq = seq + 1
WHERE id = $1 AND state IN ('queued', 'running') AND paused
RETURNING id, org_id, seq, lane

-- name: set_priority
-- Set the priority, from the next claim on.
UPDATE jobs SET priority = $2, updated_at = now(), seq = seq + 1
WHERE id = $1 AND state IN ('queued', 'running') AND priority <> $2
RETURNING id, org_id, seq, lane

-- name: drop_slices
-- Every lease of a job that is to end: its workers can write nothing from now on. One that is ending
-- already keeps the lease under which its items are skipped.
WITH held AS MATERIALIZED (
    SELECT s.id FROM slices s JOIN jobs j ON j.id = s.job_id
    WHERE s.job_id = $1 AND j.state IN ('queued', 'running')
    ORDER BY s.id FOR UPDATE OF s
)
DELETE FROM slices s USING held WHERE s.id = held.id
RETURNING s.id

-- name: begin_ending
-- Cancelled or failed: nothing of the job starts any more, its open items are skipped next.
UPDATE jobs SET state = 'cancelling', ending = $2, paused = false, updated_at = now(),
    last_error = coalesce($3::jsonb, last_error), stage = NULL, ready_at = now(), reopening = NULL,
    seq = seq + 1
WHERE id = $1 AND state IN ('queued', 'running')
RETURNING id, org_id, seq, lane, pipeline, pending + processing AS open

-- name: shut_stages
-- Only the finish of an ending job can be claimed.
UPDATE job_stages SET ready_at = CASE WHEN kind = 'finish' THEN now() ELSE 'infinity'::timestamptz END
WHERE job_id = $1

-- name: skip_items
-- The next chunk of open items of an ending job, with the reason.
WITH open AS MATERIALIZED (
    SELECT job_id, row_no, status FROM job_items
    WHERE job_id = $1 AND status IN ('PENDING', 'PROCESSING')
    ORDER BY updated_at, row_no LIMIT $2 FOR UPDATE
), skipped AS (
    UPDATE job_items i SET status = 'SKIPPED', slice_id = NULL, due_at = NULL, error = $3::jsonb,
        updated_at = now()
    FROM unnest(ARRAY(SELECT row_no FROM open)) AS o (row_no)
    WHERE i.job_id = $1 AND i.row_no = o.row_no
)
SELECT count(*) FILTER (WHERE status = 'PENDING')::integer AS pending,
       count(*) FILTER (WHERE status = 'PROCESSING')::integer AS processing
FROM open

-- name: count_skipped
-- Update the counters of the stages of skipped items.
UPDATE jobs SET pending = pending - $2, processing = processing - $3, skipped = skipped + $2 + $3,
    updated_at = now()
WHERE id = $1
RETURNING org_id, pending + processing AS open

-- name: end_ending
-- No item is open: the job is cancelled or failed. `ingest_done` stays as it
-- is, for a reprocess of the job.
WITH ended AS (
    UPDATE jobs SET state = ending, finished_at = now(), updated_at = now(), ready_at = 'infinity',
        seq = seq + 1
    WHERE id = $1 AND state = 'cancelling' AND pending + processing = 0
    RETURNING id, org_id, seq, state, last_error, total, done, error, not_found, skipped, generation,
        kept_rows, pipeline, lane, standing, attempts, queued_at, due_at, started_at, finished_at
), measured AS (
    INSERT INTO job_metrics (org_id, job_id, generation, pipeline, lane, status, success, code, queued_ms,
                             run_ms, total_ms, total, done, error, not_found, skipped, attempts)
    SELECT e.org_id, e.id, e.generation, e.pipeline, e.lane, e.state,
           false, CASE WHEN e.state = 'failed' THEN e.last_error->>'code' END,
           greatest(0, extract(epoch FROM coalesce(e.started_at, e.finished_at)
                                          - greatest(e.queued_at, e.due_at)) * 1000)::bigint,
           coalesce(extract(epoch FROM e.finished_at - e.started_at) * 1000, 0)::bigint,
           greatest(0, extract(epoch FROM e.finished_at - greatest(e.queued_at, e.due_at)) * 1000)::bigint,
           e.total - e.kept_rows, e.done, least(e.error, e.total - e.kept_rows), e.not_found, e.skipped,
           e.attempts
    FROM ended e WHERE NOT e.standing
)
SELECT * FROM ended

-- name: lock_job
-- A job's row, before its counters change.
SELECT id, org_id, state, paused, ending, lane, attempts FROM jobs WHERE id = $1 FOR NO KEY UPDATE
