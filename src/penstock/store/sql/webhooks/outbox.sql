-- name: has_endpoints
-- Whether any endpoint is enabled.
SELECT EXISTS (SELECT 1 FROM webhook_endpoints WHERE enabled)

-- name: events_to_deliver
-- Events of a range, each with every endpoint that subscribes to it and whose creator may see its job.
-- Events of deliveries themselves are not delivered. An event is older than the endpoint if both its
-- transaction and its time are: a restore into another server numbers transactions again.
WITH page AS MATERIALIZED (
    SELECT xid, id, org_id, job_id, seq, event, worker, data, created_at FROM events
    WHERE (xid, id) > ($1::text::xid8, $2) AND (xid, id) <= ($3::text::xid8, $4)
    ORDER BY xid, id LIMIT $5
), wanted AS MATERIALIZED (
    SELECT e.*, w.id AS endpoint_id, w.user_id,
           u.role = 'admin' OR o.shared_jobs AS sees_all, NULL AS request_id
    FROM page e
    JOIN webhook_endpoints w ON w.org_id = e.org_id AND w.enabled AND NOT w.for_requests
        AND (w.since <= e.xid OR w.created_at <= e.created_at)
        AND (e.event = ANY (w.events)
             OR e.event <> $6 AND ('*' = ANY (w.events)
                                   OR split_part(e.event, '.', 1) || '.*' = ANY (w.events)))
    JOIN users u ON u.id = w.user_id AND u.disabled_at IS NULL
    JOIN orgs o ON o.id = w.org_id
    WHERE e.job_id IS NOT NULL
    UNION ALL
    -- The `webhookUrl` of a request gets the events of its own job.
    SELECT e.*, w.id, w.user_id, false, r.request_id
    FROM page e
    JOIN research_requests r ON r.job_id = e.job_id
    JOIN webhook_endpoints w ON w.id = r.endpoint_id AND w.enabled AND e.event = ANY (w.events)
    JOIN users u ON u.id = w.user_id AND u.disabled_at IS NULL
)
SELECT e.id AS event_id, e.org_id, e.job_id, e.seq, e.event, e.worker, e.data, e.created_at,
       e.endpoint_id, e.user_id, e.request_id
FROM wanted e
CROSS JOIN LATERAL (SELECT j.pipeline, j.user_id FROM jobs j WHERE j.id = e.job_id LIMIT 1) AS j
WHERE j.pipeline <> ALL ($7::text[]) AND (e.sees_all OR j.user_id = e.user_id)
  AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d
                  WHERE d.endpoint_id = e.endpoint_id AND d.event_id = e.id)
ORDER BY e.xid, e.id, e.endpoint_id

-- name: waiting_tests
-- Requested test deliveries.
SELECT id, org_id, user_id, endpoint_id, event, created_at FROM webhook_deliveries
WHERE state = 'waiting' ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED

-- name: lock_streams
-- One leader at a time finds and opens jobs of this kind: two would open one for the same user.
SELECT pg_advisory_xact_lock(hashtextextended('penstock.streams:' || current_schema() || ':' || $1, 0))

-- name: open_streams
-- The jobs that take these users' deliveries, locked in order.
SELECT s.org_id, s.user_id, s.job_id, j.total, j.state
FROM unnest($1::bigint[], $2::bigint[]) AS u (org_id, user_id)
JOIN webhook_streams s ON s.pipeline = $3 AND s.org_id = u.org_id AND s.user_id = u.user_id
    AND s.closed_at IS NULL
JOIN jobs j ON j.id = s.job_id
ORDER BY j.id FOR NO KEY UPDATE OF j

-- name: close_stream
-- Close a standing job to new deliveries.
UPDATE webhook_streams SET closed_at = now() WHERE job_id = $1

-- name: add_stream
-- Record the standing job of a user's deliveries.
INSERT INTO webhook_streams (job_id, org_id, user_id, pipeline) VALUES ($1, $2, $3, $4)

-- name: org_of_stream
-- The org's name and plan, for the lane.
SELECT name, plan FROM orgs WHERE id = $1

-- name: add_deliveries
-- One row in the log for each item that was made.
INSERT INTO webhook_deliveries (id, org_id, user_id, endpoint_id, event_id, event, about_job,
                                stream_job, row_no, state)
SELECT d.id, $2, $3, d.endpoint_id, d.event_id, d.event, d.about_job, $1, i.row_no, 'pending'
FROM unnest($4::uuid[], $5::uuid[], $6::bigint[], $7::text[], $8::uuid[])
    AS d (id, endpoint_id, event_id, event, about_job)
JOIN job_items i ON i.job_id = $1 AND i.key = d.id::text
ON CONFLICT (id) DO UPDATE SET stream_job = $1, row_no = excluded.row_no, state = 'pending'

-- name: idle_streams
-- Closed standing jobs that have sent all their deliveries.
SELECT j.id FROM webhook_streams s JOIN jobs j ON j.id = s.job_id
WHERE s.closed_at IS NOT NULL AND j.state IN ('queued', 'running') AND NOT j.paused
  AND j.pending + j.processing = 0
ORDER BY j.id LIMIT $1 FOR NO KEY UPDATE OF j

-- name: unlogged_ends
-- Deliveries whose item ended without a logged result: its worker crashed, or its job was ended.
SELECT d.id, d.stream_job, d.row_no, d.endpoint_id, d.event, w.url, i.error, i.attempts
FROM webhook_deliveries d
JOIN job_items i ON i.job_id = d.stream_job AND i.row_no = d.row_no
JOIN webhook_endpoints w ON w.id = d.endpoint_id
WHERE d.state = 'pending' AND d.id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000')
  AND i.status IN ('ERROR', 'SKIPPED')
ORDER BY d.id LIMIT $2
