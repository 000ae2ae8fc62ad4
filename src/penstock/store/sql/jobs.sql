-- name: add_job
-- A job, as submitted: with its stages (ingest and finish among them), the few rows a small one
-- brings with it, and its first event. One statement, since most of a submit is round trips.
WITH job AS (
    INSERT INTO jobs (id, org_id, user_id, pipeline, name, config, file_id, ip, priority, lane,
                      standing, needs_finish, has_barrier, grouped, header, due_at, ready_at, seq,
                      total, pending, ingest_done, bytes_total)
    VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8::inet, $9, $10, $11, $12, $13, $14, $15::jsonb,
            $16, coalesce($16, now()), 1, $17, $17, $18, $19)
), stages AS (
    INSERT INTO job_stages (job_id, position, org_id, kind, name, barrier, before, pending, open,
                            ready_at)
    SELECT $1, s.position, $2, s.kind, s.name, s.barrier, s.before, s.pending, s.pending,
           CASE WHEN s.ready THEN coalesce($16, now()) ELSE 'infinity' END
    FROM unnest($20::smallint[], $21::text[], $22::text[], $23::boolean[], $24::real[],
                $25::integer[], $26::boolean[])
        AS s (position, kind, name, barrier, before, pending, ready)
), items AS (
    INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, key, group_key, input)
    SELECT $1, i.row_no, $2, $3, $4, i.key, i.group_key, i.input::jsonb
    FROM unnest($27::text[], $28::text[], $29::text[]) WITH ORDINALITY
        AS i (key, group_key, input, row_no)
)
INSERT INTO events (org_id, job_id, seq, event, data) VALUES ($2, $1, 1, 'job.queued', $30::jsonb)

-- name: get_job
-- One job as the API shows it.
SELECT j.*, f.name AS file_name, f.size AS file_size, f.sha256, f.media_type, o.name AS org, o.plan,
       (extract(epoch FROM coalesce(j.finished_at, now()) - j.started_at) * 1000)::bigint AS elapsed_ms,
       coalesce(j.due_at > now(), false) AS delayed,
       EXISTS (SELECT 1 FROM paused_lanes p WHERE p.lane = j.lane) AS lane_paused
FROM jobs j JOIN orgs o ON o.id = j.org_id LEFT JOIN files f ON f.id = j.file_id
WHERE j.id = $1

-- name: list_jobs
-- Newest first, by keyset; states as people see them (`model.states.shown_state`).
SELECT j.*, f.name AS file_name, f.size AS file_size, f.sha256, f.media_type, o.name AS org,
       (extract(epoch FROM coalesce(j.finished_at, now()) - j.started_at) * 1000)::bigint AS elapsed_ms,
       coalesce(j.due_at > now(), false) AS delayed,
       EXISTS (SELECT 1 FROM paused_lanes p WHERE p.lane = j.lane) AS lane_paused
FROM jobs j JOIN orgs o ON o.id = j.org_id LEFT JOIN files f ON f.id = j.file_id
WHERE ($1::uuid IS NULL OR j.id < $1)
  AND ($2::text[] IS NULL OR CASE
        WHEN j.paused AND j.state IN ('queued', 'running') THEN 'paused'
        WHEN j.state = 'queued' AND j.due_at > now() THEN 'delayed'
        ELSE j.state END = ANY ($2))
  AND ($3::text IS NULL OR j.pipeline = $3)
ORDER BY j.id DESC
LIMIT $4

-- name: job_errors
-- How often each error code ended an item of the job.
SELECT code, count FROM job_errors WHERE job_id = $1 AND count > 0 ORDER BY count DESC, code

-- name: queue_state
-- Depth and capacity of the whole installation.
SELECT depth, waiting, active, delayed, oldest_ms, slots, workers, avg_job_ms, level, since,
       dead_letters
FROM queue_state($1)

-- name: delayed_until
-- When a job may begin that has to wait, by the database's clock and never sooner than it asked for.
SELECT greatest($1::timestamptz, now() + $2 * interval '1 millisecond')

-- name: find_key
-- What was answered to this idempotency key.
SELECT request_hash, response FROM idempotency_keys WHERE org_id = $1 AND user_id = $2 AND key = $3

-- name: try_key
-- Two requests with one key at the same time: the second is told so.
SELECT pg_try_advisory_xact_lock(hashtextextended('penstock.key:' || current_schema() || ':' || $1, 0))

-- name: add_key
-- Remember the answer.
INSERT INTO idempotency_keys (org_id, user_id, key, request_hash, job_id, response)
VALUES ($1, $2, $3, $4, $5, $6)

-- name: add_audit
-- Who changed what.
INSERT INTO audit (org_id, user_id, action, target, ip, before, after)
VALUES ($1, $2, $3, $4, $5::inet, $6::jsonb, $7::jsonb)

-- name: add_file
-- An upload, once its blob is stored.
INSERT INTO files (id, org_id, user_id, name, media_type, sha256, size, blob_key)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING created_at

-- name: hold_blob
-- While this transaction lasts, nobody removes the blob it is about to name.
SELECT pg_advisory_xact_lock_shared(hashtextextended('penstock.blob:' || current_schema() || ':' || $1, 0))

-- name: take_blob
-- Wait for those about to name the blob; then nobody can until this transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended('penstock.blob:' || current_schema() || ':' || $1, 0))

-- name: names_blob
-- Whether any upload, of whatever org, is kept in this blob.
SELECT EXISTS (SELECT 1 FROM files WHERE blob_key = $1)

-- name: get_file
-- One upload.
SELECT id, org_id, user_id, name, media_type, sha256, size, blob_key, created_at
FROM files WHERE id = $1
