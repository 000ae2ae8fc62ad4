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
                            ready_at, pace_ms, ungrouped)
    SELECT $1, s.position, $2, s.kind, s.name, s.barrier, s.before, s.pending, s.pending,
           CASE WHEN s.ready THEN coalesce($16, now()) ELSE 'infinity' END, s.pace_ms, s.ungrouped
    FROM unnest($20::smallint[], $21::text[], $22::text[], $23::boolean[], $24::real[],
                $25::integer[], $26::boolean[], $31::integer[], $32::boolean[])
        AS s (position, kind, name, barrier, before, pending, ready, pace_ms, ungrouped)
), more_files AS (
    INSERT INTO job_files (job_id, place, org_id, file_id)
    SELECT $1, f.place, $2, f.id FROM unnest($33::uuid[]) WITH ORDINALITY AS f (id, place)
), items AS (
    INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, key, group_key, input)
    SELECT $1, i.row_no, $2, $3, $4, i.key, i.group_key, i.input::jsonb
    FROM unnest($27::text[], $28::text[], $29::text[]) WITH ORDINALITY
        AS i (key, group_key, input, row_no)
)
INSERT INTO events (org_id, job_id, seq, event, data) VALUES ($2, $1, 1, 'job.queued', $30::jsonb)

-- name: get_job
-- One job as the API shows it, with how often each error code ended an item of it.
SELECT j.*, f.name AS file_name, f.size AS file_size, f.sha256, f.media_type, o.name AS org, o.plan,
       u.email AS owner,
       (extract(epoch FROM coalesce(j.finished_at, now()) - j.started_at) * 1000)::bigint AS elapsed_ms,
       coalesce(j.due_at > now(), false) AS delayed,
       EXISTS (SELECT 1 FROM paused_lanes p WHERE p.lane = j.lane) AS lane_paused,
       (SELECT json_object_agg(e.code, e.count ORDER BY e.count DESC, e.code) FROM job_errors e
        WHERE e.job_id = j.id AND e.count > 0) AS errors
FROM jobs j JOIN orgs o ON o.id = j.org_id LEFT JOIN files f ON f.id = j.file_id
LEFT JOIN users u ON u.id = j.user_id
WHERE j.id = $1

-- name: table_of_job
-- Of a job what its items are shown by.
SELECT pipeline, config, header, total FROM jobs WHERE id = $1

-- name: walk_listed
-- Of the next so many jobs, newest first, those that fit; and the last of them, where there may be
-- more. States are as people see them (`model.states.shown_state`).
WITH walked AS MATERIALIZED (
    SELECT j.id, j.state, j.paused, j.due_at, j.pipeline, j.name, j.user_id, j.created_at FROM jobs j
    WHERE j.id < $1 AND j.id >= $2
    ORDER BY j.id DESC LIMIT $3
), fitting AS (
    SELECT w.id FROM walked w
    CROSS JOIN LATERAL (SELECT CASE
        WHEN w.paused AND w.state IN ('queued', 'running') THEN 'paused'
        WHEN w.state = 'queued' AND w.due_at > now() THEN 'delayed'
        ELSE w.state END) AS shown (state)
    WHERE ($5::text[] IS NULL OR shown.state = ANY ($5)) AND ($6::text[] IS NULL OR shown.state <> ALL ($6))
      AND ($7::text IS NULL OR w.pipeline = $7) AND ($8::text IS NULL OR position($8 IN lower(w.name)) > 0)
      AND ($9::bigint IS NULL OR w.user_id = $9)
      AND ($10::timestamptz IS NULL OR w.created_at >= $10)
      AND ($11::timestamptz IS NULL OR w.created_at < $11)
)
SELECT ARRAY(SELECT id FROM fitting ORDER BY id DESC LIMIT $4) AS ids,
       (SELECT id FROM walked ORDER BY id DESC OFFSET $3 - 1 LIMIT 1) AS place

-- name: listed_jobs
-- Jobs as a list shows them, newest first: without what they learnt of their file.
SELECT j.id, j.pipeline, j.name, j.state, j.paused, j.priority, j.lane, j.user_id, j.config, j.total,
       j.pending, j.processing, j.done, j.error, j.not_found, j.skipped, j.percent, j.stage, j.summary,
       j.last_error, j.attempts, j.created_at, j.due_at, j.started_at, j.finished_at, j.updated_at,
       j.cached_from, j.file_id, f.name AS file_name, f.size AS file_size, f.sha256, f.media_type,
       o.name AS org,
       u.email AS owner,
       (extract(epoch FROM coalesce(j.finished_at, now()) - j.started_at) * 1000)::bigint AS elapsed_ms,
       coalesce(j.due_at > now(), false) AS delayed,
       EXISTS (SELECT 1 FROM paused_lanes p WHERE p.lane = j.lane) AS lane_paused
FROM unnest($1::uuid[]) AS wanted (id) JOIN jobs j ON j.id = wanted.id
JOIN orgs o ON o.id = j.org_id LEFT JOIN files f ON f.id = j.file_id
LEFT JOIN users u ON u.id = j.user_id
ORDER BY j.id DESC

-- name: queue_state
-- Depth and capacity of the whole installation.
SELECT depth, waiting, active, delayed, oldest_ms, slots, workers, avg_job_ms, level, since,
       dead_letters
FROM queue_state($1)

-- name: last_hour
-- What came of the jobs of the last hour, of the whole installation.
SELECT completed, failed, paused FROM last_hour($1)

-- name: delayed_until
-- When a job may begin that has to wait, by the database's clock and never sooner than it asked for.
SELECT greatest($1::timestamptz, now() + $2 * interval '1 millisecond')

-- name: find_key
-- What was answered to this idempotency key.
SELECT request_hash, response, status, headers
FROM idempotency_keys WHERE org_id = $1 AND user_id = $2 AND key = $3

-- name: try_key
-- Lock an idempotency key; false if another request holds it.
SELECT pg_try_advisory_xact_lock(hashtextextended('penstock.key:' || current_schema() || ':' || $1, 0))

-- name: add_key
-- Remember the answer.
INSERT INTO idempotency_keys (org_id, user_id, key, request_hash, job_id, response, status, headers)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8::jsonb)

-- name: add_audit
-- Who changed what.
INSERT INTO audit (org_id, user_id, action, target, ip, before, after)
VALUES ($1, $2, $3, $4, $5::inet, $6::jsonb, $7::jsonb)

-- name: add_file
-- An upload, once its blob is stored.
INSERT INTO files (id, org_id, user_id, name, media_type, sha256, size, blob_key)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING created_at

-- name: hold_blob
-- Prevent the deletion of a blob until this transaction ends.
SELECT pg_advisory_xact_lock_shared(hashtextextended('penstock.blob:' || current_schema() || ':' || $1, 0))

-- name: take_blob
-- Wait for transactions that are about to refer to the blob, and block new ones.
SELECT pg_advisory_xact_lock(hashtextextended('penstock.blob:' || current_schema() || ':' || $1, 0))

-- name: names_blob
-- Whether anything, of whatever org, is kept in this blob.
SELECT EXISTS (SELECT 1 FROM files WHERE blob_key = $1)
    OR EXISTS (SELECT 1 FROM blob_refs WHERE blob_key = $1)

-- name: more_files_of
-- The files of a job beyond its first one.
SELECT file_id FROM job_files WHERE job_id = $1 ORDER BY place

-- name: get_file
-- One upload.
SELECT id, org_id, user_id, name, media_type, sha256, size, blob_key, created_at
FROM files WHERE id = $1
