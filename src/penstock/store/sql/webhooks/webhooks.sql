-- name: add_endpoint
-- An endpoint, its secret sealed.
INSERT INTO webhook_endpoints (id, org_id, user_id, url, description, events, enabled, secret)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: count_endpoints
-- How many endpoints an org has, up to a limit.
SELECT count(*) FROM (
    SELECT 1 FROM webhook_endpoints
    WHERE org_id = $1 AND deleted_at IS NULL AND NOT for_requests LIMIT $2) AS few

-- name: list_endpoints
-- Endpoints of one org, or of all orgs that the caller may see, oldest first.
SELECT w.id, w.org_id, w.user_id, w.url, w.description, w.events, w.enabled, w.disabled_reason,
       CASE WHEN w.old_until > now() THEN w.old_until END AS old_until, w.created_at, w.updated_at,
       o.name AS org
FROM webhook_endpoints w JOIN orgs o ON o.id = w.org_id
WHERE w.deleted_at IS NULL AND ($1::uuid IS NULL OR w.id > $1)
  AND ($2::bigint IS NULL OR w.org_id = $2)
ORDER BY w.id LIMIT $3

-- name: get_endpoint
-- One endpoint, without its secrets.
SELECT w.id, w.org_id, w.user_id, w.url, w.description, w.events, w.enabled, w.disabled_reason,
       CASE WHEN w.old_until > now() THEN w.old_until END AS old_until, w.created_at, w.updated_at,
       o.name AS org
FROM webhook_endpoints w JOIN orgs o ON o.id = w.org_id
WHERE w.id = $1 AND w.deleted_at IS NULL

-- name: change_endpoint
-- Change the given settings; enabling an endpoint clears the reason why it was disabled.
UPDATE webhook_endpoints SET
    url = coalesce($2, url), description = coalesce($3, description),
    events = coalesce($4, events), enabled = coalesce($5, enabled),
    disabled_reason = CASE WHEN $5 THEN NULL ELSE disabled_reason END, updated_at = now()
WHERE id = $1 AND deleted_at IS NULL RETURNING id

-- name: rotate_secret
-- Set a new secret; the previous one signs, too, for so many seconds.
UPDATE webhook_endpoints SET secret = $2, updated_at = now(),
    old_secret = CASE WHEN $3 > 0 THEN secret END,
    old_until = CASE WHEN $3 > 0 THEN now() + $3 * interval '1 second' END
WHERE id = $1 AND deleted_at IS NULL RETURNING old_until

-- name: delete_endpoint
-- Delete an endpoint and its secrets; its log stays until its retention ends.
UPDATE webhook_endpoints SET deleted_at = now(), enabled = false, secret = '', old_secret = NULL,
    old_until = NULL, updated_at = now()
WHERE id = $1 AND deleted_at IS NULL RETURNING id

-- name: receivers
-- The current URLs and secrets of endpoints.
SELECT id, org_id, url, enabled, disabled_reason, secret, deleted_at IS NOT NULL AS deleted,
       CASE WHEN old_until > now() THEN old_secret END AS old_secret
FROM webhook_endpoints WHERE id = ANY ($1::uuid[])

-- name: sealed_secrets
-- Every sealed secret, by keyset, to be sealed again.
SELECT id, secret, old_secret FROM webhook_endpoints
WHERE deleted_at IS NULL AND secret <> '' AND ($1::uuid IS NULL OR id > $1)
ORDER BY id LIMIT $2 FOR NO KEY UPDATE

-- name: newest_secret
-- A sealed secret, to see whether it opens.
SELECT id, secret FROM webhook_endpoints WHERE deleted_at IS NULL AND secret <> ''
ORDER BY id DESC LIMIT 1

-- name: reseal
-- The same secrets, sealed by another key.
UPDATE webhook_endpoints SET secret = $2, old_secret = $3 WHERE id = $1

-- name: add_test
-- Request a test delivery; the leader sends it.
INSERT INTO webhook_deliveries (id, org_id, user_id, endpoint_id, event)
VALUES ($1, $2, $3, $4, $5)

-- name: list_deliveries
-- The log of an endpoint, newest first.
SELECT id, endpoint_id, event, about_job, stream_job, row_no, state, tries, status, created_at,
       settled_at
FROM webhook_deliveries
WHERE endpoint_id = $1 AND id < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  AND ($3::text[] IS NULL OR state = ANY ($3))
ORDER BY id DESC LIMIT $4

-- name: get_delivery
-- One delivery, with all its tries and what is sent.
SELECT d.id, d.org_id, d.user_id, d.endpoint_id, d.event, d.about_job, d.stream_job, d.row_no,
       d.state, d.tries, d.status, d.attempts, d.created_at, d.settled_at, w.url, w.enabled,
       i.input, i.due_at
FROM webhook_deliveries d JOIN webhook_endpoints w ON w.id = d.endpoint_id
LEFT JOIN job_items i ON i.job_id = d.stream_job AND i.row_no = d.row_no
WHERE d.id = $1

-- name: delivery_of_item
-- The delivery that an item carries out.
SELECT id FROM webhook_deliveries WHERE stream_job = $1 AND row_no = $2

-- name: reopen_delivery
-- Set a delivery to pending again.
UPDATE webhook_deliveries SET state = 'pending', settled_at = NULL WHERE id = $1

-- name: note_tries
-- Record attempts; the log of each delivery keeps the latest.
UPDATE webhook_deliveries d SET
    state = t.state, status = coalesce(t.status, d.status),
    settled_at = CASE WHEN t.state = 'pending' THEN NULL ELSE now() END,
    tries = d.tries + (t.tried IS NOT NULL)::integer,
    attempts = CASE
        WHEN t.tried IS NULL THEN d.attempts
        WHEN jsonb_array_length(d.attempts) >= $5 THEN d.attempts - 0
        ELSE d.attempts END
      || CASE WHEN t.tried IS NULL THEN '[]'
              ELSE jsonb_build_array(jsonb_build_object('at', now()) || t.tried::jsonb) END
FROM unnest($1::uuid[], $2::text[], $3::smallint[], $4::text[]) AS t (id, state, status, tried)
WHERE d.id = t.id
RETURNING d.id, d.created_at

-- name: disable_endpoints
-- Disable endpoints whose receiver answered 410, unless their URL was changed meanwhile.
UPDATE webhook_endpoints w SET enabled = false, disabled_reason = $3, updated_at = now()
FROM unnest($1::uuid[], $2::text[]) AS g (id, url)
WHERE w.id = g.id AND w.url = g.url AND w.enabled

-- name: drop_old_deliveries
-- The log is kept for so many days.
DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
    SELECT id FROM webhook_deliveries
    WHERE settled_at IS NOT NULL AND settled_at < now() - $1 * interval '1 day'
    ORDER BY settled_at LIMIT $2))
RETURNING id
