-- name: live_workers
-- Live workers with their reported figures.
SELECT id, host, pid, slots, started_at,
       round(extract(epoch FROM now() - heartbeat_at) * 1000)::integer AS silent_ms, figures
FROM workers
WHERE stopped_at IS NULL AND heartbeat_at > now() - interval '10 seconds'
ORDER BY id LIMIT $1

-- name: live_slices
-- Running slices, by kind.
SELECT kind, count(*) AS slices, coalesce(sum(cardinality(row_nos)), 0) AS items
FROM slices GROUP BY kind

-- name: held_slices
-- What workers hold now, the longest held first.
SELECT s.worker, s.kind, s.stage, s.claimed_at, cardinality(s.row_nos) AS items, j.id AS job_id,
       j.name, s.pipeline, o.name AS org
FROM slices s JOIN jobs j ON j.id = s.job_id JOIN orgs o ON o.id = s.org_id
ORDER BY s.claimed_at LIMIT $1

-- name: live_orgs
-- Orgs with live jobs: what they hold, and how far their virtual time is ahead of the common one.
WITH RECURSIVE live (org_id) AS (
    (SELECT org_id FROM jobs
     WHERE state IN ('queued', 'running', 'cancelling') AND NOT paused
     ORDER BY org_id, ready_at LIMIT 1)
    UNION ALL
    SELECT next.org_id FROM live l CROSS JOIN LATERAL (
        SELECT org_id FROM jobs
        WHERE state IN ('queued', 'running', 'cancelling') AND NOT paused AND org_id > l.org_id
        ORDER BY org_id, ready_at LIMIT 1
    ) AS next
), held AS MATERIALIZED (
    SELECT org_id, count(*) AS slices, sum(cardinality(row_nos)) AS items FROM slices GROUP BY org_id
)
SELECT o.name AS org, o.plan, o.weight, coalesce(h.slices, 0) AS slices,
       coalesce(h.items, 0) AS items, coalesce(greatest(t.vt - c.v, 0), 0) AS ahead_ms
FROM live l
JOIN orgs o ON o.id = l.org_id
LEFT JOIN held h ON h.org_id = l.org_id
LEFT JOIN org_time t ON t.org_id = l.org_id AND t.pool = ''
LEFT JOIN virtual_clock c ON c.pool = ''
ORDER BY coalesce(h.slices, 0) DESC, o.weight DESC, o.name
LIMIT $1

-- name: live_jobs
-- Jobs being worked on, those that hold the most first.
SELECT j.id, j.name, j.pipeline, o.name AS org, j.priority, j.state, j.paused, j.percent, j.total,
       j.pending, j.processing, j.skipped, j.kept_rows, s.stage, s.slices, s.items, st.avg_ms,
       coalesce((extract(epoch FROM now() - j.started_at) * 1000)::bigint, 0) AS elapsed_ms
FROM (SELECT job_id, count(*) AS slices, coalesce(sum(cardinality(row_nos)), 0) AS items,
             max(stage) AS stage, max(position) AS position
      FROM slices GROUP BY job_id ORDER BY 3 DESC, 2 DESC, 1 LIMIT $1) AS s
JOIN jobs j ON j.id = s.job_id
JOIN orgs o ON o.id = j.org_id
LEFT JOIN job_stages st ON st.job_id = s.job_id AND st.position = s.position
ORDER BY s.items DESC, s.slices DESC, j.id

-- name: last_ended
-- Jobs that ended since a moment, the latest first: how each ended, how long it took, how much it was.
SELECT finished_at, total, total_ms, success, error
FROM job_metrics
WHERE finished_at > $1 AND status <> 'cancelled'
ORDER BY finished_at DESC LIMIT $2

-- name: last_failed
-- Dead letters since a moment, the latest first: one walk of the index for each of their states.
SELECT l.id, l.job_id, l.pipeline, l.name, l.code, l.message, l.last_failed_at
FROM unnest(ARRAY['open', 'reprocessed', 'discarded']) AS s (state)
CROSS JOIN LATERAL (
    SELECT * FROM dead_letters d WHERE d.state = s.state AND d.last_failed_at > $1
    ORDER BY d.last_failed_at DESC LIMIT $2
) AS l
ORDER BY l.last_failed_at DESC LIMIT $2

-- name: open_letters
-- The oldest dead letter that is open, and how many have been since before a moment, up to a bound.
SELECT (SELECT last_failed_at FROM dead_letters
        WHERE state = 'open' ORDER BY last_failed_at LIMIT 1) AS oldest,
       (SELECT count(*) FROM (SELECT 1 FROM dead_letters
                              WHERE state = 'open' AND last_failed_at < $1 LIMIT $2) AS l) AS waiting
