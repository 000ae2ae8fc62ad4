-- name: add_request_endpoint
-- The endpoint of a `webhookUrl`, one per user and URL. Its secret is the org's.
INSERT INTO webhook_endpoints (id, org_id, user_id, url, description, events, secret, for_requests)
SELECT $1, j.org_id, j.user_id, $3, 'webhookUrl of research requests',
       ARRAY['job.completed', 'job.failed', 'job.cancelled', 'job.dead_lettered'], '', true
FROM jobs j WHERE j.id = $2
ON CONFLICT (org_id, user_id, md5(url)) WHERE for_requests AND deleted_at IS NULL DO NOTHING

-- name: find_request_endpoint
-- The endpoint of a `webhookUrl` for the user of a job.
SELECT w.id FROM webhook_endpoints w JOIN jobs j ON j.org_id = w.org_id AND j.user_id = w.user_id
WHERE j.id = $1 AND md5(w.url) = md5($2) AND w.url = $2 AND w.for_requests AND w.deleted_at IS NULL

-- name: add_request
-- A job is an attempt of a request.
INSERT INTO research_requests (org_id, request_id, job_id, endpoint_id) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING

-- name: attempts_of_request
-- The jobs of a request, oldest first.
SELECT job_id FROM research_requests WHERE org_id = $1 AND request_id = $2
ORDER BY created_at, job_id LIMIT 100

-- name: add_usage_rows
-- Create missing counters.
INSERT INTO research_usage (org_id, user_id, period)
SELECT $1, u, p FROM unnest($2::bigint[], $3::text[]) AS wanted (u, p) ON CONFLICT DO NOTHING

-- name: lock_usage
-- The counters of a user and of the org, locked in one order.
SELECT user_id, period, requests FROM research_usage
WHERE org_id = $1 AND (user_id, period) IN (SELECT u, p FROM unnest($2::bigint[], $3::text[]) AS w (u, p))
ORDER BY user_id, period FOR NO KEY UPDATE

-- name: count_request
-- Add one request to all of these counters.
UPDATE research_usage SET requests = requests + 1
WHERE org_id = $1 AND (user_id, period) IN (SELECT u, p FROM unnest($2::bigint[], $3::text[]) AS w (u, p))

-- name: usage_now
-- The counters of a user and of the org.
SELECT user_id, period, requests FROM research_usage
WHERE org_id = $1 AND (user_id, period) IN (SELECT u, p FROM unnest($2::bigint[], $3::text[]) AS w (u, p))

-- name: quota_of_org
-- Limits of an org that differ from the settings.
SELECT user_day, user_month, org_day, org_month FROM research_quotas WHERE org_id = $1

-- name: set_quota
-- Set the limits of an org.
INSERT INTO research_quotas (org_id, user_day, user_month, org_day, org_month)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (org_id) DO UPDATE SET user_day = excluded.user_day, user_month = excluded.user_month,
    org_day = excluded.org_day, org_month = excluded.org_month

-- name: list_queries
-- Saved queries of an org, by name.
SELECT q.name, q.request, u.email AS user, q.updated_at FROM research_queries q
LEFT JOIN users u ON u.id = q.user_id
WHERE q.org_id = $1 ORDER BY q.name LIMIT $2

-- name: lock_queries
-- So that the number of saved queries of an org is counted by one request at a time.
SELECT pg_advisory_xact_lock(hashtextextended('penstock.research_queries:' || current_schema() || ':' || $1, 0))

-- name: save_query
-- Save a query, or replace the one of this name.
INSERT INTO research_queries (org_id, name, request, user_id) VALUES ($1, $2, $3::json, $4)
ON CONFLICT (org_id, name) DO UPDATE SET request = excluded.request, user_id = excluded.user_id,
    updated_at = now()

-- name: delete_query
-- Delete a saved query.
DELETE FROM research_queries WHERE org_id = $1 AND name = $2 RETURNING name

-- name: add_pace
-- The pace of a kind of jobs that never began.
INSERT INTO job_pace (meter, next_at) VALUES ($1, now() - interval '1 day') ON CONFLICT DO NOTHING

-- name: take_pace
-- Reserve the next begin: $2 seconds after the one before, of which the last $3 may be at once.
UPDATE job_pace SET next_at = greatest(next_at, clock_timestamp() - $3 * $2 * interval '1 second')
                              + $2 * interval '1 second'
WHERE meter = $1
RETURNING next_at - $2 * interval '1 second' AS begin_at, clock_timestamp() AS now

-- name: add_org_secret
-- The secret of an org that has none.
INSERT INTO org_secrets (org_id, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING

-- name: replace_org_secret
-- Replace the secret of an org.
INSERT INTO org_secrets (org_id, secret) VALUES ($1, $2)
ON CONFLICT (org_id) DO UPDATE SET secret = excluded.secret

-- name: org_secrets_of
-- Sealed secrets of orgs.
SELECT org_id, secret FROM org_secrets WHERE org_id = ANY ($1::bigint[])

-- name: sealed_org_secrets
-- Sealed secrets by keyset, to be sealed with another key.
SELECT org_id, secret FROM org_secrets WHERE org_id > $1 ORDER BY org_id LIMIT $2 FOR NO KEY UPDATE

-- name: reseal_org_secret
-- The same secret, sealed with the newest key.
UPDATE org_secrets SET secret = $2 WHERE org_id = $1

-- name: newest_org_secret
-- A sealed secret, to check whether it opens.
SELECT org_id, secret FROM org_secrets ORDER BY org_id DESC LIMIT 1
