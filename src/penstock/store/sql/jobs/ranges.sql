-- name: add_range
-- Rows that were read, to be stored as items later.
INSERT INTO job_ranges (job_id, first_row, org_id, rows, lines, noticed)
VALUES ($1, $2, $3, $4, $5, $6::jsonb)

-- name: set_waiting
-- All rows are read: which of them must wait for all others.
WITH waiting AS (
    SELECT r.first_row, array_agg(n.row_no ORDER BY n.row_no) AS rows
    FROM unnest($2::integer[]) AS n (row_no)
    CROSS JOIN LATERAL (SELECT first_row FROM job_ranges
                        WHERE job_id = $1 AND first_row <= n.row_no
                        ORDER BY first_row DESC LIMIT 1) AS r
    GROUP BY r.first_row
)
UPDATE job_ranges r SET waiting = coalesce(w.rows, '{}')
FROM job_ranges o LEFT JOIN waiting w ON w.first_row = o.first_row
WHERE r.job_id = $1 AND o.job_id = r.job_id AND o.first_row = r.first_row

-- name: let_all_wait
-- A row of the job is changed, so that the comparison of all keys may no longer be true: all rows wait.
UPDATE job_ranges SET waiting = NULL WHERE job_id = $1 AND waiting IS NOT NULL

-- name: open_ranges
-- All rows are read: their ranges can be claimed.
UPDATE job_stages SET ready_at = now() WHERE job_id = $1 AND kind = 'ranges' AND pending > 0

-- name: pick_range
-- The next range that is free, for the lease that is about to be opened.
UPDATE job_ranges r SET slice_id = $2
WHERE r.job_id = $1 AND r.first_row = (
    SELECT first_row FROM job_ranges WHERE job_id = $1 AND slice_id IS NULL
    ORDER BY first_row LIMIT 1)
RETURNING r.rows

-- name: take_from_ranges
-- Count one free range less, under the job's lock.
UPDATE job_stages SET pending = pending - 1,
    ready_at = CASE WHEN pending = 1 THEN 'infinity' ELSE ready_at END
WHERE job_id = $1 AND kind = 'ranges'

-- name: rest_ranges
-- No range is free: all are held, or stored.
UPDATE job_stages SET ready_at = 'infinity' WHERE job_id = $1 AND kind = 'ranges'

-- name: load_range
-- The range that a lease holds.
SELECT first_row, rows, lines, noticed, waiting, crashes FROM job_ranges
WHERE job_id = $1 AND slice_id = $2

-- name: end_range
-- The fence: a range is stored once, under the lease that holds it.
DELETE FROM job_ranges WHERE job_id = $1 AND first_row = $2 AND slice_id = $3 RETURNING rows

-- name: release_range
-- Release a range; $3 workers died while they held it.
UPDATE job_ranges SET slice_id = NULL, crashes = crashes + $3 WHERE job_id = $1 AND slice_id = $2
RETURNING first_row, rows, crashes

-- name: range_items
-- The rows of a range as items: all pending, or skipped with an error. Pending ones are due now: rows
-- without a due time are claimed in order, and later rows may be claimed already.
INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, status, input, noticed, error,
                       due_at)
SELECT j.id, r.first_row + l.place::integer - 1, j.org_id, j.user_id, j.pipeline, $3, l.line::jsonb,
       r.noticed -> (r.first_row + l.place - 1)::text, $4::jsonb,
       CASE WHEN $3 = 'PENDING' THEN now() END
FROM job_ranges r JOIN jobs j ON j.id = r.job_id
CROSS JOIN LATERAL string_to_table(convert_from(r.lines, 'UTF8'), E'\n')
    WITH ORDINALITY AS l (line, place)
WHERE r.job_id = $1 AND r.first_row = $2

-- name: drop_range
-- Delete a range whose rows are items now.
DELETE FROM job_ranges WHERE job_id = $1 AND first_row = $2

-- name: first_ranges
-- The next ranges of a job that ends early.
SELECT first_row, rows FROM job_ranges WHERE job_id = $1 ORDER BY first_row LIMIT $2 FOR UPDATE

-- name: count_ranges
-- How many ranges of a job are left, how many of them are free, and their rows.
SELECT count(*)::integer AS open, (count(*) FILTER (WHERE slice_id IS NULL))::integer AS pending,
       coalesce(sum(rows), 0)::integer AS rows
FROM job_ranges WHERE job_id = $1

-- name: free_ranges
-- Release ranges whose lease no longer exists.
UPDATE job_ranges SET slice_id = NULL WHERE job_id = $1 AND slice_id IS NOT NULL
