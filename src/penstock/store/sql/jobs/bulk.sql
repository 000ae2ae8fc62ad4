-- name: add_operation
-- An operation over many jobs, as asked for.
INSERT INTO bulk_operations (id, org_id, user_id, ip, action, filter, params, scope_org, scope_owner,
                             state, matched, target, target_selection)
VALUES ($1, $2, $3, $4::inet, $5, $6::jsonb, $7::jsonb, $8, $9, $10, $11, $12, $13::jsonb)

-- name: now
-- The time of the request: jobs created later are not included.
SELECT now()

-- name: get_operation
-- One operation as people see it.
SELECT b.id, b.action, b.filter, b.params, o.name AS org, b.user_id, b.state, b.matched, b.changed,
       b.left_out, b.failed, b.errors, b.items, b.items_left_out, b.target_row, j.total AS target_total,
       b.target_selection, b.asked_at, b.updated_at, b.finished_at
FROM bulk_operations b JOIN orgs o ON o.id = b.org_id LEFT JOIN jobs j ON j.id = b.target
WHERE b.id = $1

-- name: list_operations
-- Newest first, by keyset.
SELECT b.id, b.action, b.filter, b.params, o.name AS org, b.user_id, b.state, b.matched, b.changed,
       b.left_out, b.failed, b.errors, b.items, b.items_left_out, b.target_row, j.total AS target_total,
       b.target_selection, b.asked_at, b.updated_at, b.finished_at
FROM bulk_operations b JOIN orgs o ON o.id = b.org_id LEFT JOIN jobs j ON j.id = b.target
WHERE $1::uuid IS NULL OR b.id < $1
ORDER BY b.id DESC LIMIT $2

-- name: live_operations
-- Operations to continue, longest untouched first.
SELECT id FROM bulk_operations WHERE state IN ('counting', 'running') ORDER BY updated_at LIMIT $1

-- name: lock_operation
-- Lock an operation before it is continued or aborted.
SELECT * FROM bulk_operations WHERE id = $1 FOR UPDATE

-- name: walk_jobs
-- The next jobs of an org, of all, or of those named; which of them match, and how far that was. So
-- many are looked at, however few match. Standing jobs match only if they or their pipeline are named.
WITH walked AS MATERIALIZED (
    (SELECT id, state, paused, due_at, pipeline, lane, user_id, name, created_at, standing FROM jobs
     WHERE $1::bigint IS NOT NULL AND $3::uuid[] IS NULL AND org_id = $1 AND id > $2
     ORDER BY id LIMIT $13)
    UNION ALL
    (SELECT id, state, paused, due_at, pipeline, lane, user_id, name, created_at, standing FROM jobs
     WHERE $1::bigint IS NULL AND $3::uuid[] IS NULL AND id > $2
     ORDER BY id LIMIT $13)
    UNION ALL
    (SELECT id, state, paused, due_at, pipeline, lane, user_id, name, created_at, standing FROM jobs
     WHERE $3::uuid[] IS NOT NULL AND id = ANY ($3) AND id > $2 AND ($1::bigint IS NULL OR org_id = $1)
     ORDER BY id LIMIT $13)
)
SELECT (SELECT count(*) FROM walked) AS walked,
       (SELECT id FROM walked ORDER BY id DESC LIMIT 1) AS last,
       ARRAY(SELECT id FROM walked j
             WHERE j.created_at <= $4
               AND ($5::bigint IS NULL OR j.user_id = $5)
               AND ($6::text[] IS NULL OR CASE
                    WHEN j.paused AND j.state IN ('queued', 'running') THEN 'paused'
                    WHEN j.state = 'queued' AND j.due_at > now() THEN 'delayed'
                    ELSE j.state END = ANY ($6))
               AND ($7::text IS NULL OR j.pipeline = $7)
               AND (NOT j.standing OR $7 IS NOT NULL OR $3::uuid[] IS NOT NULL)
               AND ($8::text IS NULL OR j.lane = $8)
               AND ($9::bigint IS NULL OR j.user_id = $9)
               AND ($10::text IS NULL OR strpos(lower(j.name), lower($10)) > 0)
               AND ($11::timestamptz IS NULL OR j.created_at >= $11)
               AND ($12::timestamptz IS NULL OR j.created_at < $12)
             ORDER BY id) AS ids

-- name: count_more
-- Add the number of jobs that match, and where to continue.
UPDATE bulk_operations SET matched = matched + $2, last_job = $3, updated_at = now() WHERE id = $1

-- name: end_counting
-- The count is complete: begin with the first job.
UPDATE bulk_operations SET state = 'running', matched = matched + $2, updated_at = now(),
    last_job = '00000000-0000-0000-0000-000000000000'
WHERE id = $1

-- name: pass_by
-- Record that no job up to this one matches.
UPDATE bulk_operations SET last_job = $2, updated_at = now() WHERE id = $1

-- name: note_target
-- Record the result of a job; the first few errors are kept.
UPDATE bulk_operations SET last_job = $2, changed = changed + $3, left_out = left_out + $4,
    failed = failed + $5, items = items + $6, items_left_out = items_left_out + $7,
    errors = CASE WHEN $8::jsonb IS NULL OR jsonb_array_length(errors) >= $9 THEN errors
                  ELSE errors || $8 END,
    target = NULL, target_selection = NULL, target_row = 0, updated_at = now()
WHERE id = $1

-- name: begin_target
-- Begin with a job that is too large for one transaction.
UPDATE bulk_operations SET target = $2, target_selection = $3::jsonb, target_row = 0, updated_at = now()
WHERE id = $1

-- name: move_in_target
-- Record that a chunk of the current job is done.
UPDATE bulk_operations SET target_row = $2, items = items + $3, items_left_out = items_left_out + $4,
    updated_at = now()
WHERE id = $1

-- name: end_operation
-- End an operation. Jobs that matched when they were counted but no longer did are left out.
UPDATE bulk_operations SET state = $2,
    left_out = CASE WHEN $2 = 'done' THEN greatest(left_out, matched - changed - failed)
                    ELSE left_out END, finished_at = now(), updated_at = now(), target = NULL,
    target_selection = NULL, errors = CASE WHEN $3::jsonb IS NULL THEN errors ELSE errors || $3 END
WHERE id = $1 AND state IN ('counting', 'running')
