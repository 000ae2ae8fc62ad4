-- name: remember
-- Add a job to the cache, if it is done and none of its rows was changed. A later job replaces it.
INSERT INTO result_cache AS c (org_id, sha256, key, job_id)
SELECT j.org_id, f.sha256, $2, j.id FROM jobs j JOIN files f ON f.id = j.file_id
WHERE j.id = $1 AND j.generation = 1 AND j.state = 'done' AND j.total > 0
  AND NOT EXISTS (SELECT 1 FROM job_errors e WHERE e.job_id = j.id AND e.code = ANY ($3::text[]))
ON CONFLICT (org_id, sha256, key) DO UPDATE SET job_id = excluded.job_id, made_at = now()

-- name: find
-- The job with the same file and configuration within the time given.
SELECT j.id, j.user_id, j.config, j.started_at, j.header, j.ingest_cursor, j.context, j.total,
       coalesce((SELECT avg_bytes FROM job_stages WHERE job_id = j.id AND position = 0), 0) AS row_bytes
FROM result_cache c JOIN jobs j ON j.id = c.job_id AND j.org_id = c.org_id
WHERE c.org_id = $1 AND c.sha256 = $2 AND c.key = $3 AND c.made_at > now() - $4 * interval '1 hour'
  AND j.generation = 1 AND j.state = 'done' AND j.pruned_at IS NULL

-- name: is_unchanged
-- Whether the rows of a job are unchanged, and so those it shares with another job. Checked before copying:
-- every change starts a new generation in the same transaction. The lock makes such a change wait for
-- this transaction.
SELECT bool_and(generation = 1 AND state = 'done' AND pruned_at IS NULL) FROM (
    SELECT generation, state, pruned_at FROM jobs WHERE id IN ($1, rows_of($1)) ORDER BY id FOR SHARE
) AS locked

-- name: share_rows
-- The job has the rows of another one, or of the one that it shares them with.
UPDATE jobs j SET shared_from = rows_of(s.id) FROM jobs s WHERE j.id = $1 AND s.id = $2
RETURNING s.total, s.done, s.error, s.not_found, s.skipped

-- name: error_codes
-- How many rows of a job ended with which error.
SELECT code, count FROM job_errors WHERE job_id = $1

-- name: copy_range
-- Rows of another job as they were read, as one range. The text of jsonb has no line breaks.
INSERT INTO job_ranges (job_id, first_row, org_id, rows, lines, noticed)
SELECT $1, $3 + 1, i.org_id, count(*), convert_to(string_agg(i.input::text, E'\n' ORDER BY i.row_no), 'UTF8'),
       jsonb_object_agg(i.row_no, i.noticed) FILTER (WHERE i.noticed IS NOT NULL)
FROM job_items i WHERE i.job_id = rows_of($2) AND i.row_no > $3 AND i.row_no <= $4 GROUP BY i.org_id
RETURNING rows, length(lines) AS bytes

-- name: copy_results
-- Rows of another job with all their results.
INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, stage, status, attempts, updated_at,
                       input, noticed, normalized, problems, result, error)
SELECT $1, i.row_no, i.org_id, $3, i.job_type, i.stage, i.status, i.attempts, i.updated_at, i.input,
       i.noticed, i.normalized, i.problems, i.result, i.error
FROM job_items i WHERE i.job_id = rows_of($2) AND i.row_no > $4 AND i.row_no <= $5

-- name: count_problems
-- How the rows of a range ended that are not done.
SELECT i.status, i.error->>'code' AS code, count(*)::integer AS rows
FROM job_items i
WHERE i.job_id = rows_of($1) AND i.row_no > $2 AND i.row_no <= $3
  AND i.status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
GROUP BY 1, 2

-- name: row_bytes
-- How large rows of the job are.
SELECT coalesce(avg_bytes, 0) FROM job_stages WHERE job_id = $1 AND position = 0

-- name: copy_keys
-- … and the keys of the rows.
INSERT INTO job_keys (job_id, row_no, key, org_id, filled)
SELECT $1, k.row_no, k.key, k.org_id, k.filled
FROM job_keys k WHERE k.job_id = rows_of($2) AND k.row_no > $3 AND k.row_no <= $4

-- name: lock_sharing
-- A job that shares the rows of another, and jobs that share its own.
SELECT id, shared_from, user_id, total FROM jobs
WHERE shared_from IS NOT NULL AND (id = $1 OR shared_from = $1) ORDER BY id FOR NO KEY UPDATE

-- name: lock_own_sharing
-- A job that shares the rows of another, unless it is being changed.
SELECT id, shared_from, user_id, total FROM jobs WHERE id = $1 AND shared_from IS NOT NULL
FOR NO KEY UPDATE SKIP LOCKED

-- name: next_sharing
-- The next jobs that share the rows of another and ended some time ago.
SELECT id FROM jobs
WHERE shared_from IS NOT NULL AND finished_at < now() - $2 * interval '1 second' LIMIT $1

-- name: last_copied
-- The last row that was copied, of those that a job shares.
SELECT coalesce(max(row_no), 0) FROM job_items WHERE job_id = $1

-- name: stop_sharing
-- The job has rows of its own.
UPDATE jobs SET shared_from = NULL WHERE id = $1

-- name: copied_summary
-- The summary of the job whose results were all copied, if neither job was changed since.
SELECT s.summary FROM jobs j JOIN jobs s ON s.id = j.cached_from
WHERE j.id = $1 AND j.ingest_cursor @> $2::jsonb AND j.generation = 1
  AND s.generation = 1 AND s.state = 'done'

-- name: mark_cached
-- Record the job whose results were reused.
UPDATE jobs SET cached_from = $2 WHERE id = $1

-- name: drop_old
-- Delete entries that are too old to be used.
DELETE FROM result_cache WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM result_cache WHERE made_at < now() - $1 * interval '1 hour'
    ORDER BY made_at LIMIT $2))
