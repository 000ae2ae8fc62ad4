-- name: add_watcher
-- A watched place, its credentials sealed.
INSERT INTO watchers (id, org_id, user_id, name, kind, address, credentials, pattern, after_taken,
                      complete_by, job, enabled, every_seconds)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12, $13)

-- name: count_watchers
-- How many watchers an org has, up to a limit.
SELECT count(*) FROM (
    SELECT 1 FROM watchers WHERE org_id = $1 AND deleted_at IS NULL LIMIT $2) AS few

-- name: list_watchers
-- Watchers of one org, or of all orgs that the caller may see, oldest first.
SELECT w.id, w.org_id, w.user_id, w.name, w.kind, w.address, w.pattern, w.after_taken,
       w.complete_by, w.job, w.enabled, w.every_seconds, w.next_scan_at, w.scanned_at, w.last_scan,
       w.error, w.host_key, w.created_at, w.updated_at, o.name AS org, w.credentials <> '' AS sealed
FROM watchers w JOIN orgs o ON o.id = w.org_id
WHERE w.deleted_at IS NULL AND ($1::uuid IS NULL OR w.id > $1)
  AND ($2::bigint IS NULL OR w.org_id = $2)
ORDER BY w.id LIMIT $3

-- name: get_watcher
-- One watcher, without its credentials.
SELECT w.id, w.org_id, w.user_id, w.name, w.kind, w.address, w.pattern, w.after_taken,
       w.complete_by, w.job, w.enabled, w.every_seconds, w.next_scan_at, w.scanned_at, w.last_scan,
       w.error, w.host_key, w.created_at, w.updated_at, o.name AS org, w.credentials <> '' AS sealed
FROM watchers w JOIN orgs o ON o.id = w.org_id
WHERE w.id = $1 AND w.deleted_at IS NULL

-- name: get_sealed_watcher
-- The sealed credentials of one watcher.
SELECT credentials FROM watchers WHERE id = $1 AND deleted_at IS NULL

-- name: change_watcher
-- Change what a watcher looks for and when. The place stays the same.
UPDATE watchers SET name = $2, pattern = $3, after_taken = $4, complete_by = $5, job = $6::jsonb,
    enabled = $7, every_seconds = $8, next_scan_at = now(), updated_at = now()
WHERE id = $1 AND deleted_at IS NULL RETURNING id

-- name: rotate_watcher
-- Replace the credentials and forget the server's key.
UPDATE watchers SET credentials = $2, host_key = NULL, error = NULL, failures = 0,
    next_scan_at = now(), updated_at = now()
WHERE id = $1 AND deleted_at IS NULL RETURNING id

-- name: delete_watcher
-- Delete the credentials and hide the watcher. Its jobs stay.
UPDATE watchers SET deleted_at = now(), credentials = '', updated_at = now()
WHERE id = $1 AND deleted_at IS NULL RETURNING id

-- name: take_due
-- Watchers whose scan is due. The next one is due an interval later even if this process dies.
UPDATE watchers SET next_scan_at = now() + every_seconds * interval '1 second'
WHERE id IN (
    SELECT id FROM watchers
    WHERE deleted_at IS NULL AND enabled AND every_seconds IS NOT NULL AND next_scan_at <= now()
    ORDER BY next_scan_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING id

-- name: save_scan
-- The place was listed: what the scan found.
UPDATE watchers SET scanned_at = now(), last_scan = $2::jsonb, error = NULL, failures = 0
WHERE id = $1 AND deleted_at IS NULL

-- name: save_scan_failure
-- The place could not be listed: why. Every failure in a row doubles the interval, up to an hour.
UPDATE watchers SET scanned_at = now(), error = $2::jsonb, failures = failures + 1,
    next_scan_at = now() + least(
        coalesce(every_seconds, 60) * power(2, least(failures, 10)), greatest(every_seconds, 3600)
    ) * interval '1 second'
WHERE id = $1 AND deleted_at IS NULL

-- name: save_host_key
-- The key that the server showed first.
UPDATE watchers SET host_key = $2 WHERE id = $1 AND host_key IS NULL AND deleted_at IS NULL

-- name: watcher_creator
-- The user in whose name a watcher's jobs run; none if that user was disabled or moved.
SELECT u.id AS user_id, u.org_id, u.email, u.role, o.name AS org, o.plan, o.shared_jobs
FROM watchers w JOIN users u ON u.id = w.user_id AND u.org_id = w.org_id
JOIN orgs o ON o.id = w.org_id
WHERE w.id = $1 AND w.deleted_at IS NULL AND u.disabled_at IS NULL AND u.role <> 'viewer'

-- name: sealed_watchers
-- Sealed credentials by keyset, to be sealed with another key.
SELECT id, credentials FROM watchers
WHERE deleted_at IS NULL AND credentials <> '' AND ($1::uuid IS NULL OR id > $1)
ORDER BY id LIMIT $2 FOR NO KEY UPDATE

-- name: newest_watcher
-- The newest sealed credentials, to check whether they open.
SELECT id, credentials FROM watchers WHERE deleted_at IS NULL AND credentials <> ''
ORDER BY id DESC LIMIT 1

-- name: reseal_watcher
-- The same credentials, sealed with the newest key.
UPDATE watchers SET credentials = $2 WHERE id = $1
