-- name: job_events
-- Events of a job after a number.
SELECT seq, event, worker, data, created_at FROM events
WHERE job_id = $1 AND seq > $2 ORDER BY seq LIMIT $3

-- name: all_events
-- Events of all jobs in commit order: only what no open transaction can still precede.
-- The policy of the job decides which callers see its events; hidden events are skipped within the page.
SELECT e.xid::text AS xid, e.id, e.job_id, e.seq, e.event, e.worker, e.data, e.created_at,
       e.job_id IS NULL OR coalesce((SELECT true FROM jobs j WHERE j.id = e.job_id LIMIT 1), false)
           AS shown
FROM events e
WHERE (e.xid, e.id) > ($1::text::xid8, $2) AND e.xid < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY e.xid, e.id LIMIT $3

-- name: tail_events
-- The same for one reader that serves many subscribers: with the owner of the job.
SELECT e.xid::text AS xid, e.id, e.org_id, e.job_id, j.user_id, e.seq, e.event, e.worker, e.data,
       e.created_at
FROM events e LEFT JOIN jobs j ON j.id = e.job_id
WHERE (e.xid, e.id) > ($1::text::xid8, $2) AND e.xid < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY e.xid, e.id LIMIT $3

-- name: present
-- The current end of the stream over all jobs.
SELECT pg_snapshot_xmin(pg_current_snapshot())::text
