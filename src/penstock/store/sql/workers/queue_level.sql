-- name: lock_intake
-- The recorded level, locked, so that one process at a time changes it.
SELECT level, extract(epoch FROM now() - alerted_at) * 1000 AS alerted_ms_ago
FROM intake FOR NO KEY UPDATE

-- name: note_level
-- Record the level; `since` changes with it, and the end of an overload resets its alert.
UPDATE intake SET level = $1, depth = $2, checked_at = now(),
    since = CASE WHEN $3 THEN now() ELSE since END,
    alerted_at = CASE WHEN $4 THEN now() WHEN $1 = 'overload' THEN alerted_at END
RETURNING since
