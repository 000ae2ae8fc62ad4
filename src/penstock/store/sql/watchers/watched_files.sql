-- name: known_files
-- What is known about files that a scan found, by name and version.
SELECT f.id, f.name, f.version, f.state, f.finished, f.attempts,
       extract(epoch FROM now() - f.first_seen_at)::float8 AS seen_seconds,
       CASE f.state WHEN 'seen' THEN true
                    WHEN 'taking' THEN f.claimed_until < now()
                    WHEN 'failed' THEN coalesce(f.next_try_at <= now(), false)
                    ELSE false END AS takeable
FROM unnest($2::text[], $3::text[]) AS found (name, version)
JOIN watched_files f ON f.watcher_id = $1 AND f.name = found.name AND f.version = found.version

-- name: add_files
-- Files that were not known. One that another scanner adds at the same time is added once.
INSERT INTO watched_files (id, org_id, watcher_id, name, version, size, modified_at)
SELECT found.id, $2, $1, found.name, found.version, found.size, found.modified_at
FROM unnest($3::uuid[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[])
     AS found (id, name, version, size, modified_at)
ON CONFLICT (watcher_id, name, version) DO NOTHING

-- name: drop_replaced
-- Forget versions of files that changed before they were taken.
DELETE FROM watched_files f USING unnest($2::text[], $3::text[]) AS found (name, version)
WHERE f.watcher_id = $1 AND f.name = found.name AND f.version <> found.version AND f.state = 'seen'

-- name: mark_seen
-- Files that are still there, written at most once a day, so that rows of others can be deleted.
UPDATE watched_files SET last_seen_at = now()
WHERE id = ANY($1::uuid[]) AND last_seen_at < now() - interval '1 day'

-- name: claim_file
-- Take a file for one scanner: the first one of all that try.
UPDATE watched_files SET state = 'taking', claim = $2,
    claimed_until = now() + $3 * interval '1 second', updated_at = now()
WHERE id = $1 AND (state = 'seen'
    OR (state = 'taking' AND claimed_until < now())
    OR (state = 'failed' AND next_try_at <= now()))
RETURNING id

-- name: renew_claim
-- The scanner still reads the file.
UPDATE watched_files SET claimed_until = now() + $3 * interval '1 second'
WHERE id = $1 AND claim = $2 RETURNING id

-- name: lock_claim
-- Whether the file is still claimed by this scanner; nothing changes that until the commit.
SELECT id FROM watched_files WHERE id = $1 AND claim = $2 FOR UPDATE

-- name: file_submitted
-- The job of the file was created.
UPDATE watched_files SET state = 'submitted', job_id = $2, claim = NULL, claimed_until = NULL,
    error = NULL, next_try_at = NULL, finished = $3, updated_at = now()
WHERE id = $1

-- name: file_failed
-- The file could not be taken: why, and when it is tried again.
UPDATE watched_files SET state = 'failed', claim = NULL, claimed_until = NULL, error = $3::jsonb,
    attempts = attempts + $4,
    next_try_at = CASE WHEN $5::float8 IS NULL THEN NULL
                       ELSE now() + $5::float8 * interval '1 second' END,
    updated_at = now()
WHERE id = $1 AND claim = $2
RETURNING attempts

-- name: file_changed
-- The file changed while it was read: this version is gone.
DELETE FROM watched_files WHERE id = $1 AND claim = $2

-- name: claim_finish
-- Take a file for one scanner whose job was created by another one that did not go on.
UPDATE watched_files SET updated_at = now()
WHERE id = $1 AND state = 'submitted' AND NOT finished
  AND updated_at < now() - $2 * interval '1 second'
RETURNING id

-- name: finish_missing
-- Files that are in their place no more: a scanner moved or deleted them and died right afterwards.
UPDATE watched_files SET finished = true, updated_at = now()
WHERE watcher_id = $1 AND state = 'submitted' AND NOT finished
  AND updated_at < now() - $3 * interval '1 second' AND name <> ALL($2::text[])

-- name: file_finished
-- The file was moved or deleted after its job was created, or could not be: why.
UPDATE watched_files SET finished = $2, error = $3::jsonb, updated_at = now() WHERE id = $1

-- name: list_files
-- Files of a watcher, newest first.
SELECT id, watcher_id, name, size, modified_at, state, attempts, next_try_at, error, job_id,
       finished, first_seen_at, updated_at
FROM watched_files
WHERE watcher_id = $1 AND ($2::uuid IS NULL OR id < $2)
  AND ($3::text IS NULL OR state = $3)
ORDER BY id DESC LIMIT $4

-- name: count_files
-- How many files of a watcher are in each state.
SELECT state, count(*) AS files FROM watched_files WHERE watcher_id = $1 GROUP BY state

-- name: retry_file
-- Try a failed file again with the next scan.
UPDATE watched_files SET next_try_at = now(), attempts = 0, updated_at = now()
WHERE watcher_id = $1 AND id = $2 AND state = 'failed' RETURNING name

-- name: forget_files
-- Delete rows of files that have not been in their place for long, a chunk at a time.
DELETE FROM watched_files WHERE id IN (
    SELECT id FROM watched_files
    WHERE last_seen_at < now() - $1 * interval '1 day' AND state <> 'taking'
    ORDER BY last_seen_at LIMIT $2)
