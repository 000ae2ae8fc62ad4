-- name: add_jobs
-- Jobs, as submitted: with their stages (ingest and finish among them), the few rows that small ones
-- bring with them, and their first events. One statement, since most of a submit is round trips. Members
-- of stages, rows and files name their job by its place in the list. The commit wakes workers that
-- listen on the channel $39, if there is one.
WITH job AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[],
                         $7::uuid[], $8::text[], $9::smallint[], $10::text[], $11::boolean[],
                         $12::boolean[], $13::boolean[], $14::boolean[], $15::text[],
                         $16::timestamptz[], $17::integer[], $18::boolean[], $19::bigint[], $20::text[],
                         $40::text[])
        WITH ORDINALITY
        AS j (id, org_id, user_id, pipeline, name, config, file_id, ip, priority, lane, standing,
              needs_finish, has_barrier, grouped, header, due_at, total, ingest_done, bytes_total,
              told, traceparent, place)
), added AS (
    INSERT INTO jobs (id, org_id, user_id, pipeline, name, config, file_id, ip, priority, lane,
                      standing, needs_finish, has_barrier, grouped, header, due_at, ready_at, seq,
                      total, pending, ingest_done, bytes_total, traceparent)
    SELECT id, org_id, user_id, pipeline, name, config::jsonb, file_id, ip::inet, priority, lane,
           standing, needs_finish, has_barrier, grouped, header::jsonb, due_at,
           coalesce(due_at, now()), 1, total, total, ingest_done, bytes_total, traceparent
    FROM job
), stages AS (
    INSERT INTO job_stages (job_id, position, org_id, kind, name, barrier, before, pending, open,
                            ready_at, pace_ms, ungrouped)
    SELECT j.id, s.position, j.org_id, s.kind, s.name, s.barrier, s.before, s.pending, s.pending,
           CASE WHEN s.ready THEN coalesce(j.due_at, now()) ELSE 'infinity' END, s.pace_ms,
           s.ungrouped
    FROM unnest($21::integer[], $22::smallint[], $23::text[], $24::text[], $25::boolean[],
                $26::real[], $27::integer[], $28::boolean[], $29::integer[], $30::boolean[])
        AS s (place, position, kind, name, barrier, before, pending, ready, pace_ms, ungrouped)
    JOIN job j ON j.place = s.place
), more_files AS (
    INSERT INTO job_files (job_id, place, org_id, file_id)
    SELECT j.id, f.file_place, j.org_id, f.id
    FROM unnest($31::integer[], $32::integer[], $33::uuid[]) AS f (place, file_place, id)
    JOIN job j ON j.place = f.place
), items AS (
    INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, key, group_key, input)
    SELECT j.id, i.row_no, j.org_id, j.user_id, j.pipeline, i.key, i.group_key, i.input::jsonb
    FROM unnest($34::integer[], $35::integer[], $36::text[], $37::text[], $38::text[])
        AS i (place, row_no, key, group_key, input)
    JOIN job j ON j.place = i.place
), events AS (
    INSERT INTO events (org_id, job_id, seq, event, data)
    SELECT org_id, id, 1, 'job.queued', told::jsonb FROM job ORDER BY place
)
SELECT pg_notify($39::text, lane) FROM job WHERE $39 IS NOT NULL GROUP BY lane

-- name: get_job
-- One job as the API shows it, with how often each error code ended an item of it.
SELECT j.id, j.org_id, j.pipeline, j.name, j.state, j.paused, j.priority, j.lane, j.user_id, j.config, j.total,
       j.kept_rows, j.pending, j.processing, j.done, j.error, j.not_found, j.skipped, j.percent, j.stage, j.summary,
       j.last_error, j.attempts, j.created_at, j.due_at, j.started_at, j.finished_at, j.updated_at,
       j.undone_at, j.standing, j.cached_from, j.file_id, f.name AS file_name, f.size AS file_size, f.sha256, f.media_type,
       o.name AS org, o.plan, u.email AS owner, j.header, j.context, j.pruned_at, j.changes_pruned_at,
       (extract(epoch FROM coalesce(j.finished_at, now()) - j.started_at) * 1000)::bigint AS elapsed_ms,
       coalesce(j.due_at > now(), false) AS delayed,
       EXISTS (SELECT 1 FROM paused_lanes p WHERE p.lane = j.lane) AS lane_paused,
       (SELECT json_object_agg(e.code, e.count ORDER BY e.count DESC, e.code) FROM job_errors e
        WHERE e.job_id = j.id AND e.count > 0) AS errors
FROM jobs j JOIN orgs o ON o.id = j.org_id LEFT JOIN files f ON f.id = j.file_id
LEFT JOIN users u ON u.id = j.user_id
WHERE j.id = $1

-- name: walk_listed
-- Of the next so many jobs, newest first, those that fit; and the last of them, where there may be
-- more. States are as people see them (`model.states.shown_state`).
WITH walked AS MATERIALIZED (
    SELECT j.id, j.state, j.paused, j.due_at, j.pipeline, j.name, j.user_id, j.created_at, j.standing
    FROM jobs j
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
      AND ($12::boolean OR NOT w.standing)
)
SELECT ARRAY(SELECT id FROM fitting ORDER BY id DESC LIMIT $4) AS ids,
       (SELECT id FROM walked ORDER BY id DESC OFFSET $3 - 1 LIMIT 1) AS place

-- name: listed_jobs
-- Jobs as a list shows them, newest first: without what they learnt of their file.
SELECT j.id, j.org_id, j.pipeline, j.name, j.state, j.paused, j.priority, j.lane, j.user_id, j.config, j.total,
       j.kept_rows, j.pending, j.processing, j.done, j.error, j.not_found, j.skipped, j.percent, j.stage, j.summary,
       j.last_error, j.attempts, j.created_at, j.due_at, j.started_at, j.finished_at, j.updated_at,
       j.undone_at, j.standing, j.cached_from, j.file_id, f.name AS file_name, f.size AS file_size, f.sha256, f.media_type,
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
       dead_letters, lines
FROM queue_state($1)

-- name: last_hour
-- Results of the jobs of the last hour, of the whole installation.
SELECT completed, failed, paused FROM last_hour($1)

-- name: delayed_until
-- When a delayed job may begin, by the database's clock and not before its own due time.
SELECT greatest($1::timestamptz, now() + $2 * interval '1 millisecond')

-- name: find_key
-- The stored answer of this idempotency key.
SELECT request_hash, response, status, headers
FROM idempotency_keys WHERE org_id = $1 AND user_id = $2 AND key = $3

-- name: try_key
-- Lock an idempotency key; false if another request holds it.
SELECT pg_try_advisory_xact_lock(hashtextextended('penstock.key:' || current_schema() || ':' || $1, 0))

-- name: add_keys
-- Store answers of idempotency keys.
INSERT INTO idempotency_keys (org_id, user_id, key, request_hash, job_id, response, status, headers)
SELECT k.org_id, k.user_id, k.key, k.request_hash, k.job_id, k.response, k.status, k.headers::jsonb
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bytea[], $5::uuid[], $6::text[],
            $7::smallint[], $8::text[])
    AS k (org_id, user_id, key, request_hash, job_id, response, status, headers)

-- name: add_audits
-- Add audit entries, in this order.
INSERT INTO audit (org_id, user_id, action, target, ip, before, after)
SELECT a.org_id, a.user_id, a.action, a.target, a.ip::inet, a.before::jsonb, a.after::jsonb
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
    AS a (org_id, user_id, action, target, ip, before, after)

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

-- name: is_blob_referenced
-- Whether a file or reference of any org uses this blob.
SELECT EXISTS (SELECT 1 FROM files WHERE blob_key = $1)
    OR EXISTS (SELECT 1 FROM blob_refs WHERE blob_key = $1)

-- name: more_files_of
-- The files of a job beyond its first one.
SELECT file_id FROM job_files WHERE job_id = $1 ORDER BY place

-- name: get_file
-- One upload.
SELECT id, org_id, user_id, name, media_type, sha256, size, blob_key, created_at
FROM files WHERE id = $1
