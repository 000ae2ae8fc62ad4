-- name: add_upload
-- Begin a resumable upload.
INSERT INTO uploads (id, org_id, user_id, name, media_type, length, metadata, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 hour') RETURNING expires_at

-- name: get_upload
-- An upload that has not expired.
SELECT id, org_id, user_id, name, media_type, length, metadata, created_at, expires_at, finished_at
FROM uploads WHERE id = $1 AND expires_at > now()

-- name: finish_upload
-- Mark an upload as complete; only one of several concurrent requests gets a row.
UPDATE uploads SET finished_at = now() WHERE id = $1 AND finished_at IS NULL RETURNING id

-- name: drop_upload
-- Delete an upload.
DELETE FROM uploads WHERE id = $1 RETURNING id

-- name: expired_uploads
-- Delete expired uploads, a chunk at a time.
DELETE FROM uploads WHERE id = ANY (ARRAY(
    SELECT id FROM uploads WHERE expires_at <= now() ORDER BY expires_at LIMIT $1))
RETURNING id
