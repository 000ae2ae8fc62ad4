-- name: add_api_key
-- Only the hash of a key is kept.
INSERT INTO api_keys (org_id, user_id, hash, prefix, name, expires_at, scopes)
VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id

-- name: get_key
-- One key, with its user.
SELECT k.id, k.org_id, k.user_id, u.email, k.prefix, k.name, k.scopes, k.created_at, k.expires_at,
       k.revoked_at, k.last_used_at
FROM api_keys k JOIN users u ON u.id = k.user_id WHERE k.id = $1

-- name: list_keys
-- A page of keys, newest first, of one user or of all that may be seen.
SELECT k.id, k.org_id, k.user_id, u.email, k.prefix, k.name, k.scopes, k.created_at, k.expires_at,
       k.revoked_at, k.last_used_at
FROM api_keys k JOIN users u ON u.id = k.user_id
WHERE k.id < $1 AND ($2::bigint IS NULL OR k.user_id = $2)
ORDER BY k.id DESC LIMIT $3

-- name: revoke_key
-- Revoke a key; no row if it was revoked before.
UPDATE api_keys SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL RETURNING id
