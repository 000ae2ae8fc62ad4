-- name: results
-- A page of results for an export, with what was noticed about their cells: at most $4 rows and no
-- more than one row beyond $5 bytes. `following`: the next row, where there is one.
SELECT row_no, status, result, error, problems, following FROM (
    SELECT row_no, status, result, error, problems, lead(row_no) OVER (ORDER BY row_no) AS following,
           sum(pg_column_size(result))
               OVER (ORDER BY row_no ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM job_items WHERE job_id = rows_of($1) AND row_no > $2 AND row_no <= $3
    ORDER BY row_no LIMIT $4::integer + 1
) AS page
WHERE before IS NULL OR before < $5 ORDER BY row_no LIMIT $4

-- name: cells
-- … for files that show nothing but cells. The error of skipped rows tells whether they are results.
SELECT row_no, status, result, error, following FROM (
    SELECT row_no, status, result, CASE WHEN status = 'SKIPPED' THEN error END AS error,
           lead(row_no) OVER (ORDER BY row_no) AS following,
           sum(pg_column_size(result))
               OVER (ORDER BY row_no ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM job_items WHERE job_id = rows_of($1) AND row_no > $2 AND row_no <= $3
    ORDER BY row_no LIMIT $4::integer + 1
) AS page
WHERE before IS NULL OR before < $5 ORDER BY row_no LIMIT $4

-- name: rows_to_export
-- … of some statuses, of one error code and with some words (NULL: any), with the input as it came. Up
-- to a row, so that it ends soon however few there are.
SELECT row_no, status, result, error, problems, input, following FROM (
    SELECT row_no, status, input, result, error, problems,
           lead(row_no) OVER (ORDER BY row_no) AS following,
           sum(pg_column_size(input) + coalesce(pg_column_size(result), 0))
               OVER (ORDER BY row_no ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM job_items
    WHERE job_id = rows_of($1) AND row_no > $2 AND row_no <= $3
      AND CASE WHEN status = ANY ($6::text[]) THEN true END
      AND ($7::text IS NULL OR error->>'code' = $7)
      AND ($8::text IS NULL OR position($8 IN lower(input::text)) > 0
           OR position($8 IN lower(result::text)) > 0)
    ORDER BY row_no LIMIT $4::integer + 1
) AS page
WHERE before IS NULL OR before < $5 ORDER BY row_no LIMIT $4

-- name: problems_to_export
-- … of rare statuses only, one index walk each.
SELECT row_no, status, result, error, problems, input, following FROM (
    SELECT found.*, lead(row_no) OVER (ORDER BY row_no) AS following,
           sum(pg_column_size(input) + coalesce(pg_column_size(result), 0))
               OVER (ORDER BY row_no ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM (
        SELECT i.* FROM unnest($6::text[]) AS wanted (status)
        CROSS JOIN LATERAL (
            SELECT * FROM job_items i
            WHERE i.job_id = rows_of($1) AND i.row_no > $2 AND i.row_no <= $3 AND i.status = wanted.status
              AND i.status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
              AND ($7::text IS NULL OR i.error->>'code' = $7)
              AND ($8::text IS NULL OR position($8 IN lower(i.input::text)) > 0
                   OR position($8 IN lower(i.result::text)) > 0)
            ORDER BY i.row_no LIMIT $4::integer + 1
        ) AS i
        ORDER BY i.row_no LIMIT $4::integer + 1
    ) AS found
) AS page
WHERE before IS NULL OR before < $5 ORDER BY row_no LIMIT $4

-- name: widest
-- How many cells the longest of some rows has.
SELECT coalesce(max(CASE WHEN jsonb_typeof(input) = 'array' THEN jsonb_array_length(input) END), 0)
FROM job_items WHERE job_id = rows_of($1) AND row_no > $2 AND row_no <= $3
