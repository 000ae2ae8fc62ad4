-- name: look_at_clock
-- How far the clock stands behind the latest time seen, in milliseconds. Locks the row against other checks.
SELECT extract(epoch FROM seen - now())::float8 * 1000 FROM clock FOR UPDATE

-- name: note_time
-- The latest time seen, or after a correction the present.
UPDATE clock SET seen = now()

-- name: shorten_leases
-- No lease lasts longer than the longest; one that does was given by the clock before. Its holder, if
-- it lives, extends it in time.
WITH long AS MATERIALIZED (
    SELECT id FROM slices WHERE expires_at > now() + $1 * interval '1 millisecond'
    ORDER BY id FOR UPDATE
)
UPDATE slices s SET expires_at = now() + $1 * interval '1 millisecond' FROM long WHERE s.id = long.id

-- name: bring_items_forward
-- Move due times back, so that waits keep their length. Rows written in the last seconds may have
-- used the corrected clock and are not changed.
UPDATE job_items i SET due_at = greatest(now(), i.due_at - $1 * interval '1 millisecond')
FROM jobs j
WHERE j.id = i.job_id AND j.state IN ('queued', 'running')
  AND i.status = 'PENDING' AND i.due_at > now()
  AND NOT i.updated_at BETWEEN now() - interval '10 seconds' AND now()

-- name: live_jobs
-- Jobs that may wait for a time that is too far ahead, locked in order. A job that
-- begins at a given time keeps it.
SELECT id FROM jobs
WHERE state IN ('queued', 'running', 'cancelling') AND ready_at > now() AND ready_at < 'infinity'
  AND (due_at IS NULL OR due_at <= now() OR started_at IS NOT NULL)
ORDER BY id FOR NO KEY UPDATE

-- name: make_ready
-- Make their stages ready now; a claim that finds nothing sets the right time.
UPDATE job_stages SET ready_at = now()
WHERE job_id = ANY ($1::uuid[]) AND ready_at > now() AND ready_at < 'infinity'
