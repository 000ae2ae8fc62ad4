-- name: add_file_bytes
-- Add bytes of files to an org's usage, unless that exceeds its quota ($3; NULL: no limit).
INSERT INTO org_usage AS u (org_id, file_bytes) VALUES ($1, $2)
ON CONFLICT (org_id) DO UPDATE SET file_bytes = u.file_bytes + excluded.file_bytes
WHERE $3::bigint IS NULL OR u.file_bytes + excluded.file_bytes <= $3
RETURNING file_bytes

-- name: add_rows
-- Add rows and their bytes to an org's usage, unless that exceeds its quota ($4, $5).
INSERT INTO org_usage AS u (org_id, rows, row_bytes) VALUES ($1, $2, $3)
ON CONFLICT (org_id) DO UPDATE SET rows = u.rows + excluded.rows,
    row_bytes = u.row_bytes + excluded.row_bytes
WHERE ($4::bigint IS NULL OR u.rows + excluded.rows <= $4)
  AND ($5::bigint IS NULL OR u.row_bytes + excluded.row_bytes <= $5)
RETURNING rows, row_bytes

-- name: usage_of
-- The usage of an org.
SELECT file_bytes, rows, row_bytes FROM org_usage WHERE org_id = $1

-- name: open_uploads
-- Number and total size of an org's unfinished uploads.
SELECT count(*) AS uploads, coalesce(sum(length), 0)::bigint AS bytes
FROM (SELECT length FROM uploads WHERE org_id = $1 AND finished_at IS NULL LIMIT $2) AS open
