-- name: add_source
-- A configured source, its credentials sealed.
INSERT INTO sources (id, org_id, user_id, name, enabled, config, rate, credentials)
VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8)
ON CONFLICT (org_id, name) WHERE deleted_at IS NULL DO NOTHING RETURNING id

-- name: count_sources
-- How many sources an org has, up to a limit.
SELECT count(*) FROM (
    SELECT 1 FROM sources WHERE org_id = $1 AND deleted_at IS NULL LIMIT $2) AS few

-- name: list_sources
-- Sources of one org, or of all orgs that the caller may see, by name.
SELECT s.id, s.org_id, s.user_id, s.name, s.enabled, s.config, s.tested_at, s.error, s.created_at,
       s.updated_at, o.name AS org, s.credentials <> '' AS sealed
FROM sources s JOIN orgs o ON o.id = s.org_id
WHERE s.deleted_at IS NULL AND ($1::bigint IS NULL OR s.org_id = $1)
ORDER BY s.org_id, s.name LIMIT $2

-- name: get_source
-- One source, by its id or by its name in an org, without its credentials.
SELECT s.id, s.org_id, s.user_id, s.name, s.enabled, s.config, s.tested_at, s.error, s.created_at,
       s.updated_at, o.name AS org, s.credentials <> '' AS sealed
FROM sources s JOIN orgs o ON o.id = s.org_id
WHERE s.deleted_at IS NULL AND (s.id = $1 OR (s.org_id = $2 AND s.name = $3))

-- name: get_sealed_source
-- One source with its sealed credentials.
SELECT id, org_id, config, credentials FROM sources WHERE id = $1 AND deleted_at IS NULL

-- name: sealed_sources_of
-- Sources of an org that are asked by default, with their sealed credentials.
SELECT id, org_id, config, credentials FROM sources
WHERE org_id = $1 AND enabled AND deleted_at IS NULL ORDER BY name

-- name: change_source
-- Replace the configuration, and the credentials where new ones are given.
UPDATE sources SET name = $2, enabled = $3, config = $4::jsonb, rate = $5,
    credentials = coalesce($6, credentials), error = NULL, tested_at = NULL, updated_at = now()
WHERE id = $1 AND deleted_at IS NULL RETURNING id

-- name: delete_source
-- Delete the credentials and hide the source.
UPDATE sources SET deleted_at = now(), credentials = '', updated_at = now()
WHERE id = $1 AND deleted_at IS NULL RETURNING id

-- name: save_source_test
-- Store the result of a test.
UPDATE sources SET tested_at = now(), error = $2::jsonb WHERE id = $1 AND deleted_at IS NULL

-- name: sealed_source_credentials
-- Sealed credentials by keyset, to be sealed with another key.
SELECT id, credentials FROM sources
WHERE deleted_at IS NULL AND ($1::uuid IS NULL OR id > $1) ORDER BY id LIMIT $2 FOR NO KEY UPDATE

-- name: newest_source_credentials
-- The newest sealed credentials, to check whether they open.
SELECT id, credentials FROM sources WHERE deleted_at IS NULL ORDER BY id DESC LIMIT 1

-- name: reseal_source
-- The same credentials, sealed with the newest key.
UPDATE sources SET credentials = $2 WHERE id = $1

-- name: enabled_sources
-- Names and ids of the sources of an org that are asked by default.
SELECT name, id FROM sources WHERE org_id = $1 AND enabled AND deleted_at IS NULL ORDER BY name
