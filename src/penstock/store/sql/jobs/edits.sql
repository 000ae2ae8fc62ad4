-- name: edit_window
-- Rows of a stretch of a job, with their cells: ended ones that match the filter, and with $10 all
-- others too, which are not chosen. A cell is named by its place in a list or its name ($7).
SELECT row_no, input, chosen FROM (
    SELECT row_no, input, coalesce(
        status IN ('DONE', 'ERROR', 'NOT_FOUND', 'SKIPPED')
        AND ($4::text[] IS NULL OR status = ANY ($4))
        AND ($5::text IS NULL OR error ->> 'code' = $5)
        AND ($6::jsonb IS NULL OR problems @> $6 AND problems <> '[]')
        AND ($7::text IS NULL OR btrim(coalesce(input #>> ARRAY[$7], '')) = btrim($8))
        AND ($9::text IS NULL OR position($9 IN lower(input::text)) > 0
             OR position($9 IN lower(result::text)) > 0), false)
        AS chosen
    FROM job_items
    WHERE job_id = rows_of($1) AND row_no > $2 AND row_no <= $3 AND parent_row IS NULL
) AS stretch
WHERE chosen OR $10
ORDER BY row_no

-- name: named_rows
-- Rows by number, with their cells, chosen by the same filter.
SELECT i.row_no, i.input, coalesce(
    i.status IN ('DONE', 'ERROR', 'NOT_FOUND', 'SKIPPED')
    AND ($3::text[] IS NULL OR i.status = ANY ($3))
    AND ($4::text IS NULL OR i.error ->> 'code' = $4)
    AND ($5::jsonb IS NULL OR i.problems @> $5 AND i.problems <> '[]')
    AND ($6::text IS NULL OR btrim(coalesce(i.input #>> ARRAY[$6], '')) = btrim($7))
    AND ($8::text IS NULL OR position($8 IN lower(i.input::text)) > 0
         OR position($8 IN lower(i.result::text)) > 0), false)
    AS chosen
FROM unnest($2::integer[]) AS r (row_no)
JOIN job_items i ON i.job_id = (SELECT rows_of($1)) AND i.row_no = r.row_no
WHERE i.parent_row IS NULL
ORDER BY i.row_no

-- name: set_inputs
-- Set the cells of rows.
UPDATE job_items i SET input = c.input FROM unnest($2::integer[], $3::jsonb[]) AS c (row_no, input)
WHERE i.job_id = $1 AND i.row_no = c.row_no

-- name: inputs_of_rows
-- The cells of rows.
SELECT i.row_no, i.input FROM unnest($2::integer[]) AS r (row_no)
JOIN job_items i ON i.job_id = (SELECT rows_of($1)) AND i.row_no = r.row_no
ORDER BY i.row_no

-- name: add_edit
-- An edit, before it changes anything.
INSERT INTO job_edits (id, job_id, org_id, user_id, edited_by, selection, change)
VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb)

-- name: add_rows
-- Cells that the edit changed.
INSERT INTO job_edit_rows (edit_id, job_id, org_id, row_no, before, after)
SELECT $1, $2, $3, r.* FROM unnest($4::integer[], $5::jsonb[], $6::jsonb[]) AS r (row_no, before, after)

-- name: count_rows
-- More rows of the edit.
UPDATE job_edits SET rows = rows + $2 WHERE id = $1

-- name: mark_undone
-- Mark an edit as undone.
UPDATE job_edits SET undone_at = now() WHERE id = $1

-- name: get_edit
-- An edit. Its state is that of the operation with its id.
SELECT e.id, e.selection, e.change, e.rows, e.created_at, e.undone_at, u.email AS edited_by,
       coalesce(b.state, 'done') AS state
FROM job_edits e JOIN users u ON u.id = e.edited_by LEFT JOIN bulk_operations b ON b.id = e.id
WHERE e.id = $1

-- name: last_edit
-- The last edit of a job that is not undone.
SELECT e.id, e.selection, e.change, e.rows, e.created_at, e.undone_at, u.email AS edited_by,
       coalesce(b.state, 'done') AS state
FROM job_edits e JOIN users u ON u.id = e.edited_by LEFT JOIN bulk_operations b ON b.id = e.id
WHERE e.job_id = $1 AND e.undone_at IS NULL ORDER BY e.id DESC LIMIT 1

-- name: list_edits
-- Edits of a job, the last one first.
SELECT e.id, e.selection, e.change, e.rows, e.created_at, e.undone_at, u.email AS edited_by,
       coalesce(b.state, 'done') AS state
FROM job_edits e JOIN users u ON u.id = e.edited_by LEFT JOIN bulk_operations b ON b.id = e.id
WHERE e.job_id = $1 ORDER BY e.id DESC LIMIT $2

-- name: edit_rows
-- The next rows of an edit; without $4 only those whose cells it changed.
SELECT row_no, before FROM job_edit_rows
WHERE edit_id = $1 AND row_no > $2 AND ($4 OR before <> '{}') ORDER BY row_no LIMIT $3

-- name: add_rows_beside
-- Rows that run again with the edit, whose cells it does not change.
INSERT INTO job_edit_rows (edit_id, job_id, org_id, row_no, before, after)
SELECT $1, $2, $3, r.row_no, '{}', '{}' FROM unnest($4::integer[]) AS r (row_no)
ON CONFLICT DO NOTHING
