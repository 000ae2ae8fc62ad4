-- name: lock_state
-- The monitor's place; one leader at a time checks. `recent`: another one has just done so.
SELECT status, since, rolled_up_to,
       coalesce(checked_at > now() - $1 * interval '1 millisecond', false) AS recent
FROM monitor_state FOR NO KEY UPDATE

-- name: save_state
-- Store the status; `since` changes with it.
UPDATE monitor_state SET since = CASE WHEN status = $1 THEN since ELSE now() END, status = $1,
    checked_at = now()
RETURNING since

-- name: add_check
-- Store a check.
INSERT INTO health_checks (status, depth, waiting, active, oldest_ms, workers, checks, figures)
VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb)
ON CONFLICT (at) DO NOTHING

-- name: newest_check
-- The newest check, and since when the installation has its status.
SELECT c.at, c.status, c.checks, c.figures, s.since,
       extract(epoch FROM now() - c.at) * 1000 AS age_ms
FROM health_checks c CROSS JOIN monitor_state s
ORDER BY c.at DESC LIMIT 1

-- name: job_figures
-- Jobs that ended in the last hour: all, by pipeline, and by whether the pipeline has thresholds of
-- its own. Of more than $2 jobs, the latest.
SELECT grouping(m.pipeline) = 0 AS of_pipeline, grouping(m.apart) = 0 AS of_others, m.pipeline, m.apart,
       count(*) FILTER (WHERE m.success) AS succeeded,
       count(*) FILTER (WHERE NOT m.success AND m.status <> 'cancelled') AS failed,
       count(*) FILTER (WHERE m.status = 'cancelled') AS cancelled,
       coalesce(sum(m.total), 0)::bigint AS rows,
       avg(m.total_ms) FILTER (WHERE m.status <> 'cancelled')::double precision AS duration_ms,
       avg(m.run_ms) FILTER (WHERE m.status <> 'cancelled')::double precision AS run_ms,
       percentile_cont(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY m.total_ms)
           FILTER (WHERE m.status <> 'cancelled') AS percentiles
FROM (SELECT pipeline, pipeline = ANY ($1::text[]) AS apart, success, status, total, total_ms, run_ms
      FROM job_metrics WHERE finished_at > now() - interval '1 hour'
      ORDER BY finished_at DESC LIMIT $2) AS m
GROUP BY GROUPING SETS ((m.pipeline), (m.apart), ())

-- name: recent_counts
-- Of the last 10 minutes: jobs that ended, and leases that were taken back.
SELECT (SELECT count(*) FROM (SELECT 1 FROM job_metrics
                              WHERE finished_at > now() - interval '10 minutes' LIMIT $1) AS m) AS ended,
       (SELECT count(*) FROM (SELECT 1 FROM events
                              WHERE event = 'worker.error' AND job_id IS NULL
                                AND created_at > now() - interval '10 minutes'
                                AND data @> $2::jsonb LIMIT $1) AS e) AS stalled

-- name: provider_figures
-- Calls of each provider since a moment, and how many took how long.
SELECT c.provider, c.calls, c.failed, c.throttled,
       ARRAY(SELECT sum(d.count)::integer FROM provider_calls p
             CROSS JOIN LATERAL unnest(p.durations) WITH ORDINALITY AS d (count, place)
             WHERE p.provider = c.provider AND p.minute >= $1
             GROUP BY d.place ORDER BY d.place) AS durations
FROM (SELECT provider, sum(calls)::integer AS calls, sum(failed)::integer AS failed,
             sum(throttled)::integer AS throttled
      FROM provider_calls WHERE minute >= $1 GROUP BY provider) AS c
ORDER BY c.provider

-- name: roll_up_minutes
-- Sums by minute of the jobs that ended since a moment; what was summed before is replaced.
WITH counted AS (
    SELECT date_trunc('minute', finished_at) AS at, org_id, pipeline, duration_class(total_ms) AS class,
           count(*) FILTER (WHERE success) AS succeeded,
           count(*) FILTER (WHERE NOT success AND status <> 'cancelled') AS failed,
           count(*) FILTER (WHERE status = 'cancelled') AS cancelled,
           count(*) FILTER (WHERE status <> 'cancelled') AS timed,
           sum(total) AS rows, sum(error) AS row_errors, sum(queued_ms) AS queued_ms,
           sum(run_ms) AS run_ms, sum(total_ms) AS total_ms
    FROM job_metrics WHERE finished_at >= date_trunc('minute', $1::timestamptz)
    GROUP BY 1, 2, 3, 4
)
INSERT INTO job_rollups (span, at, org_id, pipeline, succeeded, failed, cancelled, rows, row_errors,
                         queued_ms, run_ms, total_ms, durations)
SELECT 'minute', at, org_id, pipeline, sum(succeeded), sum(failed), sum(cancelled), sum(rows),
       sum(row_errors), sum(queued_ms), sum(run_ms), sum(total_ms),
       coalesce(jsonb_object_agg(class, timed) FILTER (WHERE timed > 0), '{}')
FROM counted GROUP BY at, org_id, pipeline
ON CONFLICT (span, at, org_id, pipeline) DO UPDATE SET
    succeeded = excluded.succeeded, failed = excluded.failed, cancelled = excluded.cancelled,
    rows = excluded.rows, row_errors = excluded.row_errors, queued_ms = excluded.queued_ms,
    run_ms = excluded.run_ms, total_ms = excluded.total_ms, durations = excluded.durations

-- name: roll_up
-- Sums of hours ($2) from those of minutes ($1), or of days from those of hours, since a moment.
WITH summed AS (
    SELECT date_trunc($2, at) AS at, org_id, pipeline, sum(succeeded) AS succeeded,
           sum(failed) AS failed, sum(cancelled) AS cancelled, sum(rows) AS rows,
           sum(row_errors) AS row_errors, sum(queued_ms) AS queued_ms, sum(run_ms) AS run_ms,
           sum(total_ms) AS total_ms
    FROM job_rollups WHERE span = $1 AND at >= date_trunc($2, $3::timestamptz) GROUP BY 1, 2, 3
), timed AS (
    SELECT t.at, t.org_id, t.pipeline, jsonb_object_agg(t.class, t.count) AS durations
    FROM (SELECT date_trunc($2, r.at) AS at, r.org_id, r.pipeline, d.key AS class,
                 sum(d.value::bigint) AS count
          FROM job_rollups r CROSS JOIN LATERAL jsonb_each_text(r.durations) AS d
          WHERE r.span = $1 AND r.at >= date_trunc($2, $3::timestamptz)
          GROUP BY 1, 2, 3, 4) AS t
    GROUP BY 1, 2, 3
)
INSERT INTO job_rollups (span, at, org_id, pipeline, succeeded, failed, cancelled, rows, row_errors,
                         queued_ms, run_ms, total_ms, durations)
SELECT $2, s.at, s.org_id, s.pipeline, s.succeeded, s.failed, s.cancelled, s.rows, s.row_errors,
       s.queued_ms, s.run_ms, s.total_ms, coalesce(t.durations, '{}')
FROM summed s LEFT JOIN timed t USING (at, org_id, pipeline)
ON CONFLICT (span, at, org_id, pipeline) DO UPDATE SET
    succeeded = excluded.succeeded, failed = excluded.failed, cancelled = excluded.cancelled,
    rows = excluded.rows, row_errors = excluded.row_errors, queued_ms = excluded.queued_ms,
    run_ms = excluded.run_ms, total_ms = excluded.total_ms, durations = excluded.durations

-- name: rolled_up
-- All that ended until now is in the sums.
UPDATE monitor_state SET rolled_up_to = now()

-- name: job_history
-- Sums of jobs by steps of some seconds ($2) since a moment, oldest first.
SELECT date_bin($2 * interval '1 second', at, 'epoch') AS step, sum(succeeded)::bigint AS succeeded,
       sum(failed)::bigint AS failed, sum(cancelled)::bigint AS cancelled, sum(rows)::bigint AS rows,
       sum(queued_ms)::bigint AS queued_ms, sum(run_ms)::bigint AS run_ms,
       sum(total_ms)::bigint AS total_ms
FROM job_rollups
WHERE span = $1 AND at >= $3 AND ($4::text IS NULL OR pipeline = $4)
  AND ($5::text IS NULL OR org_id = (SELECT id FROM orgs WHERE name = $5))
GROUP BY 1 ORDER BY 1

-- name: duration_history
-- How many jobs took how long, by the same steps.
SELECT date_bin($2 * interval '1 second', r.at, 'epoch') AS step, d.key::integer AS class,
       sum(d.value::bigint)::bigint AS count
FROM job_rollups r CROSS JOIN LATERAL jsonb_each_text(r.durations) AS d
WHERE r.span = $1 AND r.at >= $3 AND ($4::text IS NULL OR r.pipeline = $4)
  AND ($5::text IS NULL OR r.org_id = (SELECT id FROM orgs WHERE name = $5))
GROUP BY 1, 2 ORDER BY 1, 2

-- name: check_history
-- The queue and the workers by the same steps.
SELECT date_bin($1 * interval '1 second', at, 'epoch') AS step, avg(depth)::double precision AS depth,
       max(depth) AS max_depth, max(oldest_ms) AS oldest_ms, min(workers) AS workers,
       CASE WHEN bool_or(status = 'unhealthy') THEN 'unhealthy'
            WHEN bool_or(status = 'degraded') THEN 'degraded' ELSE 'healthy' END AS status
FROM health_checks WHERE at >= $2
GROUP BY 1 ORDER BY 1

-- name: recent_failures
-- Failed jobs since a moment by pipeline and code, the most frequent first.
SELECT m.pipeline, coalesce(m.code, 'INTERNAL_ERROR') AS code, count(*) AS jobs,
       count(DISTINCT m.org_id) AS orgs, max(m.finished_at) AS last_at,
       (array_agg(m.job_id ORDER BY m.finished_at DESC))[1:3] AS job_ids
FROM (SELECT * FROM job_metrics
      WHERE finished_at > $1 AND NOT success AND status <> 'cancelled'
      ORDER BY finished_at DESC LIMIT $2) AS m
GROUP BY 1, 2 ORDER BY jobs DESC, last_at DESC LIMIT $3

-- name: waiting_jobs
-- Live jobs by lane and pipeline: how many wait, and how many items of all of them do.
SELECT lane, pipeline, count(*) FILTER (WHERE state = 'queued' AND ready_at <= now()) AS waiting,
       coalesce(sum(pending), 0)::bigint AS items
FROM (SELECT lane, pipeline, state, ready_at, pending FROM jobs
      WHERE state IN ('queued', 'running', 'cancelling') AND NOT standing AND NOT paused
      LIMIT $1) AS live
GROUP BY lane, pipeline ORDER BY lane, pipeline

-- name: ended_jobs
-- Jobs that ended, by pipeline, as far back as sums by day are kept.
WITH timed AS (
    SELECT r.pipeline, d.key AS class, sum(d.value::bigint) AS count
    FROM job_rollups r CROSS JOIN LATERAL jsonb_each_text(r.durations) AS d
    WHERE r.span = 'day' GROUP BY 1, 2
), durations AS (
    SELECT pipeline, jsonb_object_agg(class, count) AS durations FROM timed GROUP BY pipeline
)
SELECT r.pipeline, sum(r.succeeded)::bigint AS succeeded, sum(r.failed)::bigint AS failed,
       sum(r.cancelled)::bigint AS cancelled, sum(r.rows)::bigint AS rows,
       sum(r.total_ms)::bigint AS total_ms, d.durations
FROM job_rollups r LEFT JOIN durations d USING (pipeline)
WHERE r.span = 'day' GROUP BY r.pipeline, d.durations ORDER BY r.pipeline

-- name: to_log
-- Starts and ends of jobs in a range of events, in the order of commits.
SELECT e.event, e.job_id, e.worker, e.data, e.created_at, j.pipeline, j.total, j.traceparent,
       o.name AS org,
       CASE WHEN j.pipeline = ANY ($6::text[]) THEN j.config END AS config,
       CASE WHEN e.event <> 'job.started' AND j.pipeline = ANY ($6::text[]) THEN j.summary END AS summary
FROM (SELECT xid, id, org_id, job_id, event, worker, data, created_at FROM events
      WHERE (xid, id) > ($1::text::xid8, $2) AND (xid, id) <= ($3::text::xid8, $4)
        AND event = ANY ($5::text[])
      ORDER BY xid, id) AS e
CROSS JOIN LATERAL (SELECT pipeline, total, config, summary, standing, traceparent FROM jobs
                    WHERE id = e.job_id LIMIT 1) AS j
JOIN orgs o ON o.id = e.org_id
WHERE NOT j.standing
ORDER BY e.xid, e.id

-- name: drop_old_metrics
-- Metrics of jobs that ended long ago, some at a time.
DELETE FROM job_metrics WHERE id = ANY (ARRAY(
    SELECT id FROM job_metrics WHERE finished_at < now() - $1 * interval '1 day'
    ORDER BY finished_at LIMIT $2))

-- name: drop_old_rollups
-- Sums by minute after two days, by hour after 32 days, by day after two years.
DELETE FROM job_rollups WHERE span = $1 AND at < now() - $2 * interval '1 day'

-- name: drop_old_checks
-- Delete checks after a month.
DELETE FROM health_checks WHERE at < now() - interval '32 days'

-- name: leases_taken_back
-- How many leases were taken back since the installation began.
SELECT leases_taken_back FROM intake
