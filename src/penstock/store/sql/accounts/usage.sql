-- name: add_file_bytes
-- An org keeps more bytes of files, unless that would be more than it may ($3; NULL: any number).
INSERT INTO org_usage AS u (org_id, file_bytes) VALUES ($1, $2)
ON CONFLICT (org_id) DO UPDATE SET file_bytes = u.file_bytes + excluded.file_bytes
WHERE $3::bigint IS NULL OR u.file_bytes + excluded.file_bytes <= $3
RETURNING file_bytes

-- name: add_rows
-- An org keeps more rows, of so many bytes, unless that would be more than it may ($4, $5).
INSERT INTO org_usage AS u (org_id, rows, row_bytes) VALUES ($1, $2, $3)
ON CONFLICT (org_id) DO UPDATE SET rows = u.rows + excluded.rows,
    row_bytes = u.row_bytes + excluded.row_bytes
WHERE ($4::bigint IS NULL OR u.rows + excluded.rows <= $4)
  AND ($5::bigint IS NULL OR u.row_bytes + excluded.row_bytes <= $5)
RETURNING rows, row_bytes

-- name: usage_of
-- What an org keeps.
SELECT file_bytes, rows, row_bytes FROM org_usage WHERE org_id = $1

-- name: open_uploads
-- Files of an org that are on their way: how many, and how large they will be.
SELECT count(*) AS uploads, coalesce(sum(length), 0)::bigint AS bytes
FROM (SELECT length FROM uploads WHERE org_id = $1 AND finished_at IS NULL LIMIT $2) AS open
