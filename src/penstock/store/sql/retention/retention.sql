-- name: policies
-- All orgs, with what they set themselves.
SELECT o.id, o.name, p.policy FROM orgs o LEFT JOIN retention_policies p ON p.org_id = o.id
WHERE $1::bigint IS NULL OR o.id = $1 ORDER BY o.id

-- name: set_policy
-- What an org sets itself.
INSERT INTO retention_policies (org_id, policy) VALUES ($1, $2::jsonb)
ON CONFLICT (org_id) DO UPDATE SET policy = excluded.policy, updated_at = now()

-- name: ended_jobs
-- Jobs of an org that ended before a time, oldest first, after a place, and what is left of them.
-- The first chunk that is deleted marks a job as pruned; the rest may be there still.
SELECT id, finished_at, total, seq, file_id IS NOT NULL AS has_file,
       pruned_at IS NULL OR EXISTS (SELECT FROM job_items i WHERE i.job_id = j.id)
       OR EXISTS (SELECT FROM job_missing m WHERE m.job_id = j.id) AS has_rows,
       changes_pruned_at IS NULL
       OR EXISTS (SELECT FROM product_changes c WHERE c.job_id = j.id) AS has_changes,
       EXISTS (SELECT FROM events e WHERE e.job_id = j.id) AS has_events,
       EXISTS (SELECT FROM search_events s WHERE s.job_id = j.id) AS has_searches
FROM jobs j
WHERE org_id = $1 AND finished_at < $2 AND (finished_at, id) > ($3, $4)
ORDER BY finished_at, id LIMIT $5

-- name: get_ended_job
-- One job that has ended, and what is left of it.
SELECT id, finished_at, total, seq, file_id IS NOT NULL AS has_file,
       pruned_at IS NULL OR EXISTS (SELECT FROM job_items i WHERE i.job_id = j.id)
       OR EXISTS (SELECT FROM job_missing m WHERE m.job_id = j.id) AS has_rows,
       changes_pruned_at IS NULL
       OR EXISTS (SELECT FROM product_changes c WHERE c.job_id = j.id) AS has_changes,
       EXISTS (SELECT FROM events e WHERE e.job_id = j.id) AS has_events,
       EXISTS (SELECT FROM search_events s WHERE s.job_id = j.id) AS has_searches
FROM jobs j WHERE id = $1 AND finished_at IS NOT NULL

-- name: lock_ended
-- Lock a job that has ended and that no open dead letter refers to.
SELECT pruned_at IS NOT NULL AS pruned, ingest_cursor IS NOT NULL AS counted FROM jobs j
WHERE id = $1 AND finished_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM dead_letters d WHERE d.job_id = $1 AND d.state = 'open')
FOR UPDATE

-- name: mark_pruned
-- From now on the rows of the job are not complete.
UPDATE jobs SET pruned_at = now() WHERE id = $1 AND pruned_at IS NULL

-- name: mark_changes_pruned
-- From now on the job cannot be undone.
UPDATE jobs SET changes_pruned_at = now() WHERE id = $1 AND changes_pruned_at IS NULL

-- name: drop_items
-- Rows of a range of an ended job.
WITH gone AS (
    DELETE FROM job_items WHERE job_id = $1 AND row_no > $2 AND row_no <= $3 RETURNING parent_row
)
SELECT count(*) AS items, count(*) FILTER (WHERE parent_row IS NULL) AS rows FROM gone

-- name: drop_keys
-- Names of rows of a range.
DELETE FROM job_keys WHERE job_id = $1 AND row_no > $2 AND row_no <= $3

-- name: drop_edit_rows
-- Cells of rows of a range, as they were before edits.
DELETE FROM job_edit_rows WHERE job_id = $1 AND row_no > $2 AND row_no <= $3

-- name: drop_edits
-- Edits of a job whose rows are deleted.
DELETE FROM job_edits WHERE job_id = $1

-- name: drop_searches
-- Searches of rows of a range.
DELETE FROM search_events WHERE job_id = $1 AND row_no > $2 AND row_no <= $3

-- name: drop_events
-- Events of a range of numbers of an ended job.
DELETE FROM events WHERE job_id = $1 AND seq > $2 AND seq <= $3

-- name: drop_system_events
-- Events of no job, a chunk at a time. They are few.
DELETE FROM events WHERE id = ANY (ARRAY(
    SELECT id FROM events WHERE job_id IS NULL AND created_at < now() - $1 * interval '1 day'
    ORDER BY event, created_at LIMIT $2))

-- name: drop_changes
-- Before-images of a job, a chunk at a time.
WITH gone AS (
    DELETE FROM product_changes WHERE job_id = $1 AND product_id = ANY (ARRAY(
        SELECT product_id FROM product_changes WHERE job_id = $1 AND product_id > $2
        ORDER BY product_id LIMIT $3))
    RETURNING product_id
)
SELECT product_id FROM gone

-- name: drop_posting_changes
-- Before-images of job postings of a job.
DELETE FROM posting_changes WHERE job_id = $1

-- name: drop_missing
-- What a job's file did not contain, a chunk at a time.
DELETE FROM job_missing WHERE job_id = $1 AND source_id = ANY (ARRAY(
    SELECT source_id FROM job_missing WHERE job_id = $1 ORDER BY source_id LIMIT $2))

-- name: drop_counters
-- Counters of groups of a job.
DELETE FROM group_counters WHERE job_id = $1

-- name: release_files
-- The job keeps its files no longer; files that no job keeps are deleted by the tidier.
UPDATE jobs SET file_id = NULL WHERE id = $1 AND file_id IS NOT NULL

-- name: release_more_files
-- Files beyond the first one.
DELETE FROM job_files WHERE job_id = $1

-- name: drop_job
-- A job without rows, and what hangs on it.
DELETE FROM jobs WHERE id = $1 AND finished_at IS NOT NULL AND pruned_at IS NOT NULL

-- name: free_rows
-- The org keeps so many rows less. Their bytes are not known: the average of the org is taken.
UPDATE org_usage SET
    row_bytes = CASE WHEN rows <= $2 THEN 0 ELSE row_bytes - row_bytes * $2 / rows END,
    rows = greatest(0, rows - $2)
WHERE org_id = $1

-- name: drop_deliveries
-- The log of webhooks of an org, a chunk at a time.
DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
    SELECT id FROM webhook_deliveries
    WHERE org_id = $1 AND settled_at < now() - $2 * interval '1 day'
    ORDER BY settled_at LIMIT $3))

-- name: count_deliveries
-- Deliveries of an org that are old enough to be deleted.
SELECT count(*) FROM webhook_deliveries
WHERE org_id = $1 AND settled_at < now() - $2 * interval '1 day'

-- name: count_parts
-- What a chunk of jobs would leave behind: events, searches and before-images.
SELECT (SELECT count(*) FROM events WHERE job_id = ANY ($1::uuid[])) AS events,
       (SELECT count(*) FROM search_events WHERE job_id = ANY ($2::uuid[])) AS searches,
       (SELECT count(*) FROM product_changes WHERE job_id = ANY ($3::uuid[])) AS changes

-- name: open_letters
-- Which of these jobs have an open dead letter.
SELECT DISTINCT job_id FROM dead_letters WHERE job_id = ANY ($1::uuid[]) AND state = 'open'

-- name: table_sizes
-- Size of each table with its indexes, its rows as PostgreSQL estimates them, and dead ones.
SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes,
       greatest(c.reltuples, 0)::bigint AS rows, coalesce(s.n_dead_tup, 0) AS dead_rows,
       s.last_autovacuum AS vacuumed_at
FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
ORDER BY 2 DESC, 1
