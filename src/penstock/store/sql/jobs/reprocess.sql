-- name: look_at_job
-- A job to reprocess, and the time of the request: items that end later are not included. The
-- transaction's own time may be from before a wait.
SELECT id, org_id, pipeline, config, state, ending, lane, generation, ingest_done, standing, reopening,
       total, done, error, not_found, skipped, pruned_at, clock_timestamp() AS asked_at
FROM jobs WHERE id = $1

-- name: count_codes
-- How many items ended with one of these errors, from the counters of the job.
SELECT coalesce(sum(count), 0)::integer FROM job_errors WHERE job_id = $1 AND code = ANY ($2::text[])

-- name: problem_window
-- The next ended items of rare statuses, one index walk each, whatever else is asked of them: so a
-- window costs the same however few of its items are meant. Their index is found by its condition.
SELECT i.row_no, i.status, i.stage, i.attempts, i.parent_row IS NOT NULL AS born,
       i.error ->> 'code' AS code, i.updated_at <= $5 AS in_time
FROM unnest($2::text[]) AS wanted (status)
CROSS JOIN LATERAL (
    SELECT * FROM job_items i
    WHERE i.job_id = $1 AND i.row_no > $3 AND i.status = wanted.status
      AND i.status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
    ORDER BY i.row_no LIMIT $4
) AS i
ORDER BY i.row_no LIMIT $4

-- name: whole_window
-- The next items of any status.
SELECT i.row_no, i.status, i.stage, i.attempts, i.parent_row IS NOT NULL AS born,
       i.error ->> 'code' AS code, i.updated_at <= $4 AS in_time
FROM job_items i WHERE i.job_id = $1 AND i.row_no > $2
ORDER BY i.row_no LIMIT $3

-- name: named_window
-- Items by their rows.
SELECT i.row_no, i.status, i.stage, i.attempts, i.parent_row IS NOT NULL AS born,
       i.error ->> 'code' AS code, i.updated_at <= $3 AS in_time
FROM unnest($2::integer[]) AS r (row_no)
JOIN job_items i ON i.job_id = $1 AND i.row_no = r.row_no

-- name: reopen_items
-- Ended items wait again, as a new generation, in the stage in which they ended: what earlier stages
-- made of them is kept. From the start ($3) nothing is, but a child, which may have been born into a
-- later stage, stays in its own. The decision of a person ($5) is kept with the item. A due time
-- makes claims find them, whatever the floor of the first stage is. CASE hides the status from the
-- planner, which would else walk all ended items instead of these rows.
UPDATE job_items i SET status = 'PENDING', generation = i.generation + 1,
    stage = CASE WHEN $3 AND i.parent_row IS NULL THEN 0 ELSE i.stage END,
    normalized = CASE WHEN $3 AND i.parent_row IS NULL THEN NULL
                      WHEN $5::boolean IS NOT NULL
                      THEN (i.normalized::jsonb || ('{"accepted": ' || $5::text || '}')::jsonb)::json
                      ELSE i.normalized END,
    problems = CASE WHEN $3 AND i.parent_row IS NULL THEN NULL ELSE i.problems END,
    result = CASE WHEN $3 AND i.parent_row IS NULL THEN NULL ELSE i.result END,
    attempts = CASE WHEN $4 THEN 0 ELSE i.attempts END,
    crashes = 0, solo_crashes = 0, error = NULL, due_at = now(), updated_at = now()
FROM unnest(string_to_array($2, ',')::integer[]) AS r (row_no)
WHERE i.job_id = $1 AND i.row_no = r.row_no
  AND CASE WHEN i.status IN ('DONE', 'ERROR', 'NOT_FOUND', 'SKIPPED') THEN true END

-- name: drop_finish
-- Delete the lease of the finish, since the job is reopened. Under the claim lock, so that none begins.
DELETE FROM slices WHERE job_id = $1 AND kind = 'finish'

-- name: lock_ended
-- The job's row, after its items.
SELECT state, ending, ingest_done, generation, reopening FROM jobs WHERE id = $1 FOR NO KEY UPDATE

-- name: requeue_job
-- The job begins again with what is reopened, as a new generation; so its progress may begin lower: at
-- what stays, where a holder ($2) has up to $3 items to reopen, else where its counters put it. $4 items
-- are reopened already.
UPDATE jobs SET state = 'queued', ending = NULL, finished_at = NULL, undone_at = NULL,
    started_at = NULL, due_at = NULL,
    stage = NULL, attempts = 0, last_error = NULL, first_failed_at = NULL, summary = NULL,
    percent = CASE WHEN $2::uuid IS NULL THEN 0
                   ELSE greatest(0, 100.0 * (total - $3) / greatest(total, 1)) END,
    generation = generation + 1, reopening = $2, updated_at = now(), queued_at = now(),
    kept_rows = greatest(0, total - pending - processing - $4)
WHERE id = $1 AND state IN ('done', 'failed', 'cancelled')
RETURNING generation

-- name: mark_undone
-- Record that a job was undone, under its lock.
UPDATE jobs SET undone_at = now(), updated_at = now() WHERE id = $1

-- name: renew_job
-- … a running job continues, as a new generation too.
UPDATE jobs SET summary = NULL, generation = generation + 1, reopening = $2, updated_at = now(),
    percent = CASE WHEN $2::uuid IS NULL THEN 0
                   ELSE greatest(0, 100.0 * (total - pending - processing - $3) / greatest(total, 1)) END
WHERE id = $1 AND state IN ('queued', 'running')
RETURNING generation

-- name: renew_stages
-- Reset the stages of an ended job, which has no open item. An ingest that was not complete continues from its cursor.
UPDATE job_stages st SET pending = 0, open = 0, crashes = 0, started_at = NULL, moved_at = NULL,
    ready_at = CASE
    WHEN st.kind = 'ingest' AND NOT j.ingest_done THEN now() ELSE 'infinity'::timestamptz END
FROM jobs j WHERE j.id = $1 AND st.job_id = j.id

-- name: shut_finish
-- A running job whose finish was ready has items again.
UPDATE job_stages SET ready_at = 'infinity' WHERE job_id = $1 AND kind = 'finish'

-- name: run_more
-- Add to the number of reopened items.
UPDATE jobs SET kept_rows = greatest(0, kept_rows - $2) WHERE id = $1

-- name: end_reopening
-- The operation has reopened all items.
UPDATE jobs SET reopening = NULL WHERE id = $1 AND reopening = $2

-- name: failures_since
-- Jobs that failed, or ended with failed items, since then or within a day, of all pipelines or one; the
-- oldest end first.
SELECT id, state FROM jobs
WHERE finished_at >= coalesce($1, now() - interval '1 day') AND (state = 'failed' OR (state = 'done' AND error > 0))
  AND ($3::text IS NULL OR pipeline = $3)
ORDER BY finished_at, id LIMIT $2

-- name: input_of
-- A row's cells.
SELECT input FROM job_items WHERE job_id = rows_of($1) AND row_no = $2

-- name: lock_item
-- Lock a row that is to be changed.
SELECT status, input FROM job_items WHERE job_id = $1 AND row_no = $2 FOR UPDATE

-- name: document_of
-- What stages made of a row.
SELECT status, normalized FROM job_items WHERE job_id = $1 AND row_no = $2 FOR UPDATE

-- name: add_to_documents
-- Members that a user added to what stages made of these rows, which are locked in their order.
WITH locked AS (
    SELECT row_no FROM job_items WHERE job_id = $1 AND row_no = ANY ($2::integer[])
    ORDER BY row_no FOR UPDATE
)
UPDATE job_items i SET normalized = (normalized::jsonb || $3::jsonb)::json
FROM locked l WHERE i.job_id = $1 AND i.row_no = l.row_no

-- name: set_config
-- Set another configuration. The ingest ends again, to compute the context from the stored rows.
UPDATE jobs SET config = $2::jsonb, context = '{}', labels = '{}', ingest_done = false, has_barrier = $3 WHERE id = $1

-- name: set_stages
-- The stages of another configuration. A stage that it no longer has stays, without items.
INSERT INTO job_stages (job_id, position, org_id, kind, name, barrier, before, pace_ms, ungrouped)
SELECT $1, s.position, $2, s.kind, s.name, s.barrier, s.before, s.pace_ms, s.ungrouped
FROM unnest($3::smallint[], $4::text[], $5::text[], $6::boolean[], $7::real[], $8::integer[],
            $9::boolean[])
    AS s (position, kind, name, barrier, before, pace_ms, ungrouped)
ON CONFLICT (job_id, position) DO UPDATE
SET name = excluded.name, barrier = excluded.barrier, before = excluded.before,
    pace_ms = excluded.pace_ms, ungrouped = excluded.ungrouped
