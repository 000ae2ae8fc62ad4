-- name: lock_intake
-- The level as it was noted last; one watch at a time judges it.
SELECT level, extract(epoch FROM now() - alerted_at) * 1000 AS alerted_ms_ago
FROM intake FOR NO KEY UPDATE

-- name: note_level
-- The queue was looked at; `since` moves with the level, and an overload that ended was alerted of.
UPDATE intake SET level = $1, depth = $2, checked_at = now(),
    since = CASE WHEN $3 THEN now() ELSE since END,
    alerted_at = CASE WHEN $4 THEN now() WHEN $1 = 'overload' THEN alerted_at END
RETURNING since
