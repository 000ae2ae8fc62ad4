-- name: remember
-- Add a job to the cache: it is done, and none of its rows was changed. A later job replaces it.
INSERT INTO result_cache AS c (org_id, sha256, key, job_id)
SELECT j.org_id, f.sha256, $2, j.id FROM jobs j JOIN files f ON f.id = j.file_id
WHERE j.id = $1 AND j.generation = 1 AND j.state = 'done' AND j.total > 0
  AND NOT EXISTS (SELECT 1 FROM job_errors e WHERE e.job_id = j.id AND e.code = ANY ($3::text[]))
ON CONFLICT (org_id, sha256, key) DO UPDATE SET job_id = excluded.job_id, made_at = now()

-- name: find
-- The job that worked through the same bytes in the same way within the time given.
SELECT j.id, j.config, j.started_at, j.header, j.ingest_cursor, j.context, j.total,
       coalesce((SELECT avg_bytes FROM job_stages WHERE job_id = j.id AND position = 0), 0) AS row_bytes
FROM result_cache c JOIN jobs j ON j.id = c.job_id AND j.org_id = c.org_id
WHERE c.org_id = $1 AND c.sha256 = $2 AND c.key = $3 AND c.made_at > now() - $4 * interval '1 hour'
  AND j.generation = 1 AND j.state = 'done' AND j.pruned_at IS NULL

-- name: is_unchanged
-- Whether the job's rows are unchanged. Checked before copying: every change starts a new generation in
-- the same transaction. The lock makes such a change wait for this transaction.
SELECT generation = 1 AND state = 'done' AND pruned_at IS NULL FROM jobs WHERE id = $1 FOR SHARE

-- name: copy_range
-- Rows of another job as they were read, as one range. The text of jsonb has no line breaks.
INSERT INTO job_ranges (job_id, first_row, org_id, rows, lines, noticed)
SELECT $1, $3 + 1, i.org_id, count(*), convert_to(string_agg(i.input::text, E'\n' ORDER BY i.row_no), 'UTF8'),
       jsonb_object_agg(i.row_no, i.noticed) FILTER (WHERE i.noticed IS NOT NULL)
FROM job_items i WHERE i.job_id = $2 AND i.row_no > $3 AND i.row_no <= $4 GROUP BY i.org_id
RETURNING rows, length(lines) AS bytes

-- name: copy_results
-- Rows of another job with all their results.
INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, stage, status, attempts, input,
                       noticed, normalized, problems, result, error)
SELECT $1, i.row_no, i.org_id, $3, i.job_type, i.stage, i.status, i.attempts, i.input, i.noticed,
       i.normalized, i.problems, i.result, i.error
FROM job_items i WHERE i.job_id = $2 AND i.row_no > $4 AND i.row_no <= $5

-- name: count_problems
-- How the rows of a range ended that are not done.
SELECT i.status, i.error->>'code' AS code, count(*)::integer AS rows
FROM job_items i
WHERE i.job_id = $1 AND i.row_no > $2 AND i.row_no <= $3 AND i.status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
GROUP BY 1, 2

-- name: row_bytes
-- How large rows of the job are.
SELECT coalesce(avg_bytes, 0) FROM job_stages WHERE job_id = $1 AND position = 0

-- name: share_keys
-- The names of the rows are those of the other job. Not those of another user, whose changes must find
-- all jobs that share them, and not names that are shared themselves.
UPDATE jobs j SET keys_from = s.id FROM jobs s
WHERE j.id = $1 AND s.id = $2 AND s.keys_from IS NULL AND s.user_id = j.user_id

-- name: copy_unshared_keys
-- Names of rows that are not shared.
INSERT INTO job_keys (job_id, row_no, key, org_id, filled)
SELECT j.id, k.row_no, k.key, k.org_id, k.filled
FROM jobs j CROSS JOIN jobs s JOIN job_keys k ON k.job_id = coalesce(s.keys_from, s.id)
WHERE j.id = $1 AND j.keys_from IS NULL AND s.id = $2 AND k.row_no > $3 AND k.row_no <= $4

-- name: lock_sharing
-- A job that shares the names of another's rows, and jobs that share its own.
SELECT id, keys_from, total FROM jobs WHERE keys_from IS NOT NULL AND (id = $1 OR keys_from = $1)
ORDER BY id FOR NO KEY UPDATE

-- name: next_sharing
-- The next ended jobs that share the names of another's rows.
SELECT id FROM jobs WHERE keys_from IS NOT NULL AND finished_at IS NOT NULL LIMIT $1

-- name: stop_sharing
-- It has names of its own.
UPDATE jobs SET keys_from = NULL WHERE id = $1

-- name: copied_summary
-- The summary of the job whose results were all copied, if neither job was changed since.
SELECT s.summary FROM jobs j JOIN jobs s ON s.id = j.cached_from
WHERE j.id = $1 AND j.ingest_cursor @> $2::jsonb AND j.generation = 1
  AND s.generation = 1 AND s.state = 'done'

-- name: copy_keys
-- … and what they call themselves.
INSERT INTO job_keys (job_id, row_no, key, org_id, filled)
SELECT $1, k.row_no, k.key, k.org_id, k.filled
FROM job_keys k WHERE k.job_id = $2 AND k.row_no > $3 AND k.row_no <= $4

-- name: say_cached
-- Record the job whose results were reused.
UPDATE jobs SET cached_from = $2 WHERE id = $1

-- name: drop_old
-- What is too old to be used again.
DELETE FROM result_cache WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM result_cache WHERE made_at < now() - $1 * interval '1 hour'
    ORDER BY made_at LIMIT $2))
