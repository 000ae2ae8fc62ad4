-- name: add_connection
-- A connected shop, its credentials sealed.
INSERT INTO connections (id, org_id, user_id, provider, name, address, credentials)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: count_connections
-- How many connections an org has, up to a limit.
SELECT count(*) FROM (
    SELECT 1 FROM connections WHERE org_id = $1 AND deleted_at IS NULL LIMIT $2) AS few

-- name: list_connections
-- Connections of one org, or of all orgs that the caller may see, oldest first.
SELECT c.id, c.org_id, c.user_id, c.provider, c.name, c.address, c.details, c.tested_at, c.error,
       c.synced_at, c.last_job, c.next_since, c.created_at, c.updated_at, o.name AS org
FROM connections c JOIN orgs o ON o.id = c.org_id
WHERE c.deleted_at IS NULL AND ($1::uuid IS NULL OR c.id > $1)
  AND ($2::bigint IS NULL OR c.org_id = $2)
ORDER BY c.id LIMIT $3

-- name: get_connection
-- One connection, without its credentials.
SELECT c.id, c.org_id, c.user_id, c.provider, c.name, c.address, c.details, c.tested_at, c.error,
       c.synced_at, c.last_job, c.next_since, c.created_at, c.updated_at, o.name AS org
FROM connections c JOIN orgs o ON o.id = c.org_id
WHERE c.id = $1 AND c.deleted_at IS NULL

-- name: get_sealed
-- One connection with its sealed credentials.
SELECT id, org_id, provider, name, address, credentials, details, next_since
FROM connections WHERE id = $1 AND deleted_at IS NULL

-- name: rename_connection
-- Change the name.
UPDATE connections SET name = $2, updated_at = now()
WHERE id = $1 AND deleted_at IS NULL RETURNING id

-- name: rotate_credentials
-- Replace the credentials; the result of earlier tests no longer counts.
UPDATE connections SET credentials = $2, error = NULL, tested_at = NULL, updated_at = now()
WHERE id = $1 AND deleted_at IS NULL RETURNING id

-- name: delete_connection
-- Delete the credentials and hide the connection. Its products stay.
UPDATE connections SET deleted_at = now(), credentials = '', updated_at = now()
WHERE id = $1 AND deleted_at IS NULL RETURNING id

-- name: save_test
-- Store the result of a test: what it found out, or why it failed.
UPDATE connections SET tested_at = now(), error = $3::jsonb,
    details = CASE WHEN $2::jsonb IS NULL THEN details ELSE $2::jsonb END
WHERE id = $1 AND deleted_at IS NULL RETURNING id

-- name: save_sync
-- An import is complete: when, by which job, and where the next incremental one begins. It shows as
-- well as a test that the shop accepts the credentials.
UPDATE connections SET synced_at = now(), last_job = $3, error = NULL,
    tested_at = coalesce(tested_at, now()),
    next_since = greatest(next_since, $4::timestamptz)
WHERE id = $1 AND org_id = $2 AND deleted_at IS NULL

-- name: save_import_error
-- Why the last import could not read the shop, or null after one that could.
UPDATE connections SET error = $3::jsonb
WHERE id = $1 AND org_id = $2 AND deleted_at IS NULL AND error IS DISTINCT FROM $3::jsonb

-- name: count_products
-- How many products of the org come from a source, up to a limit.
SELECT count(*) FROM (
    SELECT 1 FROM products WHERE org_id = $1 AND source = $2 LIMIT $3) AS few

-- name: sealed_credentials
-- Sealed credentials by keyset, to be sealed with another key.
SELECT id, credentials FROM connections
WHERE deleted_at IS NULL AND ($1::uuid IS NULL OR id > $1) ORDER BY id LIMIT $2 FOR NO KEY UPDATE

-- name: newest_credentials
-- The newest sealed credentials, to check whether they open.
SELECT id, credentials FROM connections WHERE deleted_at IS NULL ORDER BY id DESC LIMIT 1

-- name: reseal
-- The same credentials, sealed with the newest key.
UPDATE connections SET credentials = $2 WHERE id = $1

-- name: creator_of
-- The user in whose name a shop's messages are handled; none if that user was disabled or moved.
SELECT u.id AS user_id, u.org_id, u.email, u.role, o.name AS org, o.plan, o.shared_jobs
FROM connections c JOIN users u ON u.id = c.user_id AND u.org_id = c.org_id
JOIN orgs o ON o.id = c.org_id
WHERE c.id = $1 AND c.deleted_at IS NULL AND u.disabled_at IS NULL AND u.role <> 'viewer'

-- name: surplus_imports
-- Ended imports of an org beyond the newest so many of each shop: done ones and failed ones (0: all).
SELECT id FROM (
    SELECT id, finished_at, state, row_number() OVER (
        PARTITION BY config->>$5::text, state ORDER BY finished_at DESC, id DESC) AS place
    FROM jobs
    WHERE org_id = $1 AND pipeline = 'shop_import' AND finished_at IS NOT NULL
      AND state IN ('done', 'failed')) AS j
WHERE (state = 'done' AND $2 > 0 AND place > $2) OR (state = 'failed' AND $3 > 0 AND place > $3)
ORDER BY finished_at, id LIMIT $4
