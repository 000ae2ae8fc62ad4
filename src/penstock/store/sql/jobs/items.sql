-- name: items_by_row
-- The grid: a page of a job's items in row order, of at most $3 rows and no more than one row beyond
-- $4 bytes. `following`: the row after it, where there is one.
SELECT $1 AS job_id, row_no, status, stage, attempts, input, normalized, result, error, job_type, updated_at,
       due_at, locked_by, locked_at, following
FROM (
    SELECT i.*, s.worker AS locked_by, s.claimed_at AS locked_at,
           lead(i.row_no) OVER (ORDER BY i.row_no) AS following,
           sum(pg_column_size(i.input) + coalesce(pg_column_size(i.normalized), 0)
               + coalesce(pg_column_size(i.result), 0))
               OVER (ORDER BY i.row_no ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM job_items i LEFT JOIN slices s ON s.id = i.slice_id
    WHERE i.job_id = rows_of($1) AND i.row_no > $2
    ORDER BY i.row_no LIMIT $3::integer + 1
) AS page
WHERE before IS NULL OR before < $4
ORDER BY row_no LIMIT $3

-- name: rows_up
-- Rows of some statuses (NULL: all) in a stretch of the job, first to last. CASE hides the status
-- from the planner, which would else gather all live items of the job to sort them.
SELECT row_no, updated_at FROM job_items
WHERE job_id = rows_of($1) AND row_no > $2 AND row_no <= $3
  AND CASE WHEN $4::text[] IS NULL OR status = ANY ($4) THEN true END
ORDER BY row_no LIMIT $5

-- name: rows_down
-- … last to first.
SELECT row_no, updated_at FROM job_items
WHERE job_id = rows_of($1) AND row_no < $2 AND row_no >= $3
  AND CASE WHEN $4::text[] IS NULL OR status = ANY ($4) THEN true END
ORDER BY row_no DESC LIMIT $5

-- name: problems_up
-- Rows of rare statuses, one index walk each. Their index is found by its condition.
SELECT i.row_no, i.updated_at FROM unnest($3::text[]) AS wanted (status)
CROSS JOIN LATERAL (
    SELECT row_no, updated_at FROM job_items
    WHERE job_id = rows_of($1) AND row_no > $2 AND status = wanted.status
      AND status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
    ORDER BY row_no LIMIT $4
) AS i
ORDER BY i.row_no LIMIT $4

-- name: problems_down
-- … last to first.
SELECT i.row_no, i.updated_at FROM unnest($3::text[]) AS wanted (status)
CROSS JOIN LATERAL (
    SELECT row_no, updated_at FROM job_items
    WHERE job_id = rows_of($1) AND row_no < $2 AND status = wanted.status
      AND status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
    ORDER BY row_no DESC LIMIT $4
) AS i
ORDER BY i.row_no DESC LIMIT $4

-- name: problems_oldest
-- … by when they ended so.
SELECT i.row_no, i.updated_at FROM unnest($4::text[]) AS wanted (status)
CROSS JOIN LATERAL (
    SELECT row_no, updated_at FROM job_items
    WHERE job_id = rows_of($1) AND (updated_at, row_no) > ($2, $3) AND status = wanted.status
      AND status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
    ORDER BY updated_at, row_no LIMIT $5
) AS i
ORDER BY i.updated_at, i.row_no LIMIT $5

-- name: problems_newest
-- … the latest first.
SELECT i.row_no, i.updated_at FROM unnest($4::text[]) AS wanted (status)
CROSS JOIN LATERAL (
    SELECT row_no, updated_at FROM job_items
    WHERE job_id = rows_of($1) AND (updated_at, row_no) < ($2, $3) AND status = wanted.status
      AND status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
    ORDER BY updated_at DESC, row_no DESC LIMIT $5
) AS i
ORDER BY i.updated_at DESC, i.row_no DESC LIMIT $5

-- name: open_oldest
-- What waits or runs, longest untouched first: the Pending tab of a job.
SELECT row_no, updated_at FROM job_items
WHERE job_id = $1 AND status IN ('PENDING', 'PROCESSING') AND status = ANY ($4::text[])
  AND (updated_at, row_no) > ($2, $3)
ORDER BY updated_at, row_no LIMIT $5

-- name: open_newest
-- … touched last first.
SELECT row_no, updated_at FROM job_items
WHERE job_id = $1 AND status IN ('PENDING', 'PROCESSING') AND status = ANY ($4::text[])
  AND (updated_at, row_no) < ($2, $3)
ORDER BY updated_at DESC, row_no DESC LIMIT $5

-- name: running_rows
-- Running rows, found by their slices: few among perhaps a million.
SELECT i.row_no, i.updated_at FROM slices s
CROSS JOIN LATERAL unnest(s.row_nos) AS held (row_no)
JOIN job_items i ON i.job_id = s.job_id AND i.row_no = held.row_no AND i.slice_id = s.id
WHERE s.job_id = $1 AND s.kind = 'items'
LIMIT $2

-- name: items_of_rows
-- Rows in the order given, as the grid shows them: those that still have one of the statuses (NULL:
-- any) and fit the finer filters: an error code, a text in what came or the result, when it
-- changed, a problem of a cell (`*`: any). At most $8 rows and no more than one row beyond $9 bytes; `bytes`: all up to this row.
SELECT $1 AS job_id, row_no, status, stage, attempts, input, normalized, result, error, job_type, updated_at,
       due_at, locked_by, locked_at, following, coalesce(before, 0) + size AS bytes
FROM (
    SELECT found.*, lead(row_no) OVER (ORDER BY place) AS following,
           sum(size) OVER (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (
        SELECT i.*, s.worker AS locked_by, s.claimed_at AS locked_at, wanted.place,
               pg_column_size(i.input) + coalesce(pg_column_size(i.normalized), 0)
                   + coalesce(pg_column_size(i.result), 0) AS size
        FROM unnest($2::integer[]) WITH ORDINALITY AS wanted (row_no, place)
        JOIN job_items i ON i.job_id = (SELECT rows_of($1)) AND i.row_no = wanted.row_no
        LEFT JOIN slices s ON s.id = i.slice_id
        WHERE ($3::text[] IS NULL OR i.status = ANY ($3))
          AND ($4::text IS NULL OR i.error->>'code' = $4)
          AND ($5::text IS NULL OR position($5 IN lower(i.input::text)) > 0
               OR position($5 IN lower(i.result::text)) > 0)
          AND ($6::timestamptz IS NULL OR i.updated_at >= $6)
          AND ($7::timestamptz IS NULL OR i.updated_at < $7)
          AND CASE WHEN $10::text IS NULL THEN true
                   WHEN $10 = '*' THEN i.problems <> '[]'
                   ELSE i.problems @> jsonb_build_array(jsonb_build_object('code', $10)) END
        ORDER BY wanted.place LIMIT $8::integer + 1
    ) AS found
) AS page
WHERE before IS NULL OR before < $9
ORDER BY place LIMIT $8

-- name: row_of_key
-- The row of a job with a key.
SELECT row_no FROM job_items WHERE job_id = $1 AND key = $2

-- name: failed_rows
-- The first rows of a job that failed. Their index is found by its condition.
SELECT key, error, attempts FROM job_items
WHERE job_id = $1 AND status = 'ERROR' AND status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
ORDER BY row_no LIMIT $2
