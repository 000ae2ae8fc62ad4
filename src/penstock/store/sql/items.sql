-- name: items_by_row
-- The grid: a page of a job's items in row order.
SELECT i.job_id, i.row_no, i.status, i.stage, i.attempts, i.generation, i.input, i.normalized,
       i.result, i.error, i.job_type, i.updated_at, i.due_at, i.parent_row, i.key, i.group_key,
       s.worker AS locked_by, s.claimed_at AS locked_at
FROM job_items i LEFT JOIN slices s ON s.id = i.slice_id
WHERE i.job_id = $1 AND i.row_no > $2
ORDER BY i.row_no LIMIT $3

-- name: items_by_row_and_status
-- … of some statuses, common ones among them: the page is soon full. CASE hides the status from the
-- planner, which would else gather all live items of the job to sort them.
SELECT i.job_id, i.row_no, i.status, i.stage, i.attempts, i.generation, i.input, i.normalized,
       i.result, i.error, i.job_type, i.updated_at, i.due_at, i.parent_row, i.key, i.group_key,
       s.worker AS locked_by, s.claimed_at AS locked_at
FROM job_items i LEFT JOIN slices s ON s.id = i.slice_id
WHERE i.job_id = $1 AND i.row_no > $2 AND CASE WHEN i.status = ANY ($3::text[]) THEN true END
ORDER BY i.row_no LIMIT $4

-- name: problem_items
-- … of rare statuses only, one index walk each. Their index is found by its condition.
SELECT i.job_id, i.row_no, i.status, i.stage, i.attempts, i.generation, i.input, i.normalized,
       i.result, i.error, i.job_type, i.updated_at, i.due_at, i.parent_row, i.key, i.group_key,
       NULL::text AS locked_by, NULL::timestamptz AS locked_at
FROM unnest($3::text[]) AS wanted (status)
CROSS JOIN LATERAL (
    SELECT * FROM job_items i
    WHERE i.job_id = $1 AND i.row_no > $2 AND i.status = wanted.status
      AND i.status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
    ORDER BY i.row_no LIMIT $4
) AS i
ORDER BY i.row_no LIMIT $4

-- name: live_items
-- What waits or runs, longest untouched first: the Pending tab of a job.
SELECT i.job_id, i.row_no, i.status, i.stage, i.attempts, i.generation, i.input, i.normalized,
       i.result, i.error, i.job_type, i.updated_at, i.due_at, i.parent_row, i.key, i.group_key,
       s.worker AS locked_by, s.claimed_at AS locked_at
FROM job_items i LEFT JOIN slices s ON s.id = i.slice_id
WHERE i.job_id = $1 AND i.status IN ('PENDING', 'PROCESSING') AND i.status = ANY ($4::text[])
  AND (i.updated_at, i.row_no) > ($2, $3)
ORDER BY i.updated_at, i.row_no LIMIT $5
