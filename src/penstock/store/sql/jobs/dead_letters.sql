-- name: add_letter
-- What is known of a job, or of one item of a standing job, that failed for good, under the lock of
-- the job's row.
INSERT INTO dead_letters (id, org_id, user_id, job_id, pipeline, name, file_id, config, priority,
                          attempts, code, message, details, trace, signature, first_failed_at,
                          row_no)
SELECT $1, j.org_id, j.user_id, j.id, j.pipeline, coalesce($10, j.name), j.file_id, j.config,
       j.priority, j.attempts + $3, $4, $5, $6::jsonb, $7, $8,
       coalesce($11, j.first_failed_at, now()), $9
FROM jobs j WHERE j.id = $2
RETURNING org_id, user_id, first_failed_at

-- name: join_group
-- Add an open letter to the group of its signature. An empty group begins again.
INSERT INTO dead_letter_groups AS g
    (org_id, signature, user_id, open, first_failed_at, last_failed_at, newest)
VALUES ($1, $2, $3, 1, $4, now(), $5)
ON CONFLICT (org_id, signature, user_id) DO UPDATE SET
    first_failed_at = CASE WHEN g.open = 0 THEN excluded.first_failed_at
                           ELSE least(g.first_failed_at, excluded.first_failed_at) END,
    open = g.open + 1, last_failed_at = excluded.last_failed_at, newest = excluded.newest

-- name: leave_groups
-- Remove letters from their groups. Groups are locked in order, so that two transactions do not deadlock.
WITH fewer AS (
    SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::integer[])
        AS f (org_id, signature, user_id, letters)
), locked AS MATERIALIZED (
    SELECT g.org_id, g.signature, g.user_id, f.letters
    FROM dead_letter_groups g JOIN fewer f USING (org_id, signature, user_id)
    ORDER BY g.org_id, g.signature, g.user_id FOR NO KEY UPDATE OF g
)
UPDATE dead_letter_groups g SET open = g.open - l.letters FROM locked l
WHERE g.org_id = l.org_id AND g.signature = l.signature AND g.user_id = l.user_id

-- name: number_letter
-- Store the number of the letter's event; later failures are counted from 0.
UPDATE jobs SET seq = seq + 1, first_failed_at = NULL WHERE id = $1 RETURNING seq, org_id

-- name: list_letters
-- Newest first, by keyset. Each state on its own, so that each is a walk along an index.
SELECT l.*, o.name AS org
FROM unnest($1::text[]) AS s (state)
CROSS JOIN LATERAL (
    SELECT id, org_id, user_id, job_id, row_no, pipeline, name, file_id, priority, attempts, code,
           message, signature, first_failed_at, last_failed_at, state, new_job_id, reason,
           closed_by, closed_at
    FROM dead_letters d
    WHERE d.state = s.state
      AND (d.last_failed_at, d.id) < (coalesce($2::timestamptz, 'infinity'),
                                      coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      AND ($4::text IS NULL OR d.code = $4) AND ($5::text IS NULL OR d.pipeline = $5)
      AND d.last_failed_at >= coalesce($6::timestamptz, '-infinity')
      AND d.last_failed_at < coalesce($7::timestamptz, 'infinity')
    ORDER BY d.last_failed_at DESC, d.id DESC LIMIT $8
) AS l
JOIN orgs o ON o.id = l.org_id
ORDER BY l.last_failed_at DESC, l.id DESC LIMIT $8

-- name: list_alike
-- The same, of one signature.
SELECT l.*, o.name AS org
FROM unnest($1::text[]) AS s (state)
CROSS JOIN LATERAL (
    SELECT id, org_id, user_id, job_id, row_no, pipeline, name, file_id, priority, attempts, code,
           message, signature, first_failed_at, last_failed_at, state, new_job_id, reason,
           closed_by, closed_at
    FROM dead_letters d
    WHERE d.state = s.state AND d.signature = $9
      AND (d.last_failed_at, d.id) < (coalesce($2::timestamptz, 'infinity'),
                                      coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
      AND ($4::text IS NULL OR d.code = $4) AND ($5::text IS NULL OR d.pipeline = $5)
      AND d.last_failed_at >= coalesce($6::timestamptz, '-infinity')
      AND d.last_failed_at < coalesce($7::timestamptz, 'infinity')
    ORDER BY d.last_failed_at DESC, d.id DESC LIMIT $8
) AS l
JOIN orgs o ON o.id = l.org_id
ORDER BY l.last_failed_at DESC, l.id DESC LIMIT $8

-- name: list_groups
-- Signatures with open letters, by name. Reads the groups of the page, and no letter but the newest.
WITH page AS MATERIALIZED (
    SELECT signature, sum(open)::integer AS open, min(first_failed_at) AS first_failed_at,
           max(last_failed_at) AS last_failed_at,
           (array_agg(newest ORDER BY last_failed_at DESC))[1] AS newest
    FROM dead_letter_groups
    WHERE open > 0 AND ($1::text IS NULL OR signature > $1)
    GROUP BY signature ORDER BY signature LIMIT $2
)
SELECT p.*, d.pipeline, d.code, d.message FROM page p LEFT JOIN dead_letters d ON d.id = p.newest
ORDER BY p.signature

-- name: get_letter
-- One letter, and the plan its job is run again under.
SELECT d.id, d.org_id, d.user_id, d.job_id, d.row_no, d.pipeline, d.name, d.file_id, d.config,
       d.priority, d.attempts, d.code, d.message, d.details, d.signature, d.first_failed_at,
       d.last_failed_at, d.state, d.new_job_id, d.reason, d.closed_by, d.closed_at,
       o.name AS org, o.plan
FROM dead_letters d JOIN orgs o ON o.id = d.org_id
WHERE d.id = $1

-- name: get_trace
-- The traceback of the failure, for admins.
SELECT trace FROM dead_letters WHERE id = $1

-- name: lock_letter
-- Lock a letter before it is closed, so that a second request sees what the first one did.
SELECT state FROM dead_letters WHERE id = $1 FOR NO KEY UPDATE

-- name: pick_open
-- The next open letters of a bulk action, oldest first, without those that another transaction has locked.
SELECT d.id, d.org_id, d.user_id, d.signature, d.last_failed_at FROM dead_letters d
WHERE d.state = 'open'
  AND (d.last_failed_at, d.id) > (coalesce($1::timestamptz, '-infinity'),
                                  coalesce($2::uuid, '00000000-0000-0000-0000-000000000000'))
  AND ($3::text IS NULL OR d.code = $3) AND ($4::text IS NULL OR d.pipeline = $4)
  AND d.last_failed_at >= coalesce($5::timestamptz, '-infinity')
  AND d.last_failed_at < coalesce($6::timestamptz, 'infinity')
  AND ($7::text IS NULL OR d.signature = $7)
ORDER BY d.last_failed_at, d.id LIMIT $8
FOR NO KEY UPDATE SKIP LOCKED

-- name: count_open
-- How many letters a bulk action would change, up to a limit.
SELECT count(*) FROM (
    SELECT 1 FROM dead_letters d
    WHERE d.state = 'open' AND ($1::text IS NULL OR d.code = $1)
      AND ($2::text IS NULL OR d.pipeline = $2)
      AND d.last_failed_at >= coalesce($3::timestamptz, '-infinity')
      AND d.last_failed_at < coalesce($4::timestamptz, 'infinity')
      AND ($5::text IS NULL OR d.signature = $5)
    LIMIT $6
) AS matching

-- name: close_letters
-- Close open letters: reprocessed (each as its own new job) or discarded.
UPDATE dead_letters d SET state = $2, new_job_id = c.new_job_id, reason = $4, closed_by = $5,
    closed_at = now()
FROM unnest($1::uuid[], $3::uuid[]) AS c (id, new_job_id)
WHERE d.id = c.id AND d.state = 'open'
RETURNING d.org_id, d.signature, d.user_id

-- name: close_letters_of_job
-- Close the letter of a job that is reprocessed itself.
UPDATE dead_letters SET state = 'reprocessed', new_job_id = job_id, closed_at = now(),
    closed_by = $2
WHERE job_id = $1 AND state = 'open' AND row_no IS NULL
RETURNING org_id, signature, user_id

-- name: close_letters_of_items
-- Close the letters of items of a standing job that are reprocessed or have succeeded.
UPDATE dead_letters SET state = 'reprocessed', new_job_id = job_id, closed_at = now(),
    closed_by = $3
WHERE job_id = $1 AND state = 'open' AND row_no = ANY ($2::integer[])
RETURNING org_id, signature, user_id

-- name: drop_old_letters
-- Delete letters beyond their retention, in chunks; answers how many each group loses.
WITH old AS MATERIALIZED (
    SELECT id FROM dead_letters
    WHERE state IN ('open', 'reprocessed', 'discarded')
      AND last_failed_at < now() - $1 * interval '1 day'
    LIMIT $2 FOR UPDATE SKIP LOCKED
), gone AS (
    DELETE FROM dead_letters d WHERE d.id = ANY (ARRAY(SELECT id FROM old))
    RETURNING d.org_id, d.signature, d.user_id, d.state
)
SELECT org_id, signature, user_id, count(*)::integer AS letters,
       count(*) FILTER (WHERE state = 'open')::integer AS open
FROM gone GROUP BY org_id, signature, user_id

-- name: drop_old_groups
-- Delete groups that were not seen for as long and have no open letter.
DELETE FROM dead_letter_groups
WHERE open = 0 AND last_failed_at < now() - $1 * interval '1 day'
