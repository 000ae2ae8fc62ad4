-- name: add_feed
-- A feed of products.
INSERT INTO feeds (id, org_id, user_id, name, secret_hash, options, enabled)
VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7) ON CONFLICT (org_id, name) DO NOTHING RETURNING id

-- name: list_feeds
-- Feeds of an org, by name.
SELECT f.id, f.org_id, f.user_id, f.name, f.options, f.enabled, f.read_at, f.created_at,
       f.updated_at, f.rotated_at, o.name AS org
FROM feeds f JOIN orgs o ON o.id = f.org_id WHERE f.org_id = $1 ORDER BY f.name LIMIT $2

-- name: get_feed
-- One feed.
SELECT f.id, f.org_id, f.user_id, f.name, f.options, f.enabled, f.read_at, f.created_at,
       f.updated_at, f.rotated_at, o.name AS org
FROM feeds f JOIN orgs o ON o.id = f.org_id WHERE f.id = $1

-- name: find_feed
-- The enabled feed of a secret.
SELECT f.id, f.org_id, f.user_id, f.name, f.options, f.enabled, f.read_at, f.created_at,
       f.updated_at, f.rotated_at, o.name AS org
FROM feeds f JOIN orgs o ON o.id = f.org_id WHERE f.secret_hash = $1 AND f.enabled

-- name: feed_name_taken
-- Whether another feed of the org has this name.
SELECT EXISTS (SELECT FROM feeds WHERE org_id = $1 AND name = $2 AND id <> $3)

-- name: change_feed
-- Replace all that a user sets.
UPDATE feeds SET name = $2, options = $3::jsonb, enabled = $4, updated_at = now()
WHERE id = $1 RETURNING id

-- name: rotate_feed
-- Replace the secret; the old address is no longer valid.
UPDATE feeds SET secret_hash = $2, rotated_at = now(), updated_at = now() WHERE id = $1 RETURNING id

-- name: delete_feed
-- Delete a feed and its files.
DELETE FROM feeds WHERE id = $1 RETURNING id

-- name: feed_files
-- The files of feeds as they were built last.
SELECT feed_id, kind, blob_key, sha256, size, included, left_out, built_at FROM feed_files
WHERE feed_id = ANY ($1::uuid[]) ORDER BY feed_id, kind

-- name: fresh_file
-- The file of a feed, if it was built after the feed was changed and less than so long ago.
SELECT n.feed_id, n.kind, n.blob_key, n.sha256, n.size, n.included, n.left_out, n.built_at
FROM feed_files n JOIN feeds f ON f.id = n.feed_id
WHERE n.feed_id = $1 AND n.kind = $2 AND n.built_at > f.updated_at
  AND n.built_at > now() - $3 * interval '1 second'

-- name: save_file
-- A file that was built. Its feed may have been deleted meanwhile.
INSERT INTO feed_files (feed_id, kind, org_id, blob_key, sha256, size, included, left_out)
SELECT id, $2, org_id, $3, $4, $5, $6, $7::jsonb FROM feeds WHERE id = $1
ON CONFLICT (feed_id, kind) DO UPDATE SET blob_key = excluded.blob_key, sha256 = excluded.sha256,
    size = excluded.size, included = excluded.included, left_out = excluded.left_out,
    built_at = now()
RETURNING feed_id

-- name: note_read
-- When the feed was fetched last, to the minute.
UPDATE feeds SET read_at = now()
WHERE id = $1 AND (read_at IS NULL OR read_at < now() - interval '1 minute')
