-- name: list_lanes
-- Lanes with live jobs, and paused lanes. Counted up to a limit, as the depth is.
SELECT lane, count(j.state) AS jobs, count(*) FILTER (WHERE j.state = 'running') AS running,
       p.paused_at, p.reason, u.email AS paused_by
FROM (SELECT lane, state FROM jobs
      WHERE state IN ('queued', 'running', 'cancelling') AND NOT standing LIMIT 20001) AS j
FULL JOIN paused_lanes p USING (lane)
LEFT JOIN users u ON u.id = p.user_id
GROUP BY lane, p.paused_at, p.reason, u.email
ORDER BY lane

-- name: pause_lane
-- Pause a lane: nothing of it is claimed, running slices continue.
INSERT INTO paused_lanes (lane, user_id, reason) VALUES ($1, $2, $3)
ON CONFLICT (lane) DO NOTHING
RETURNING lane

-- name: resume_lane
-- Resume a lane.
DELETE FROM paused_lanes WHERE lane = $1 RETURNING lane
