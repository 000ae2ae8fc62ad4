-- name: leader_lives
-- Whether there is a leader: a recent heartbeat, and its session exists.
SELECT EXISTS (
    SELECT 1 FROM leaders l JOIN pg_stat_activity a ON a.pid = l.backend
    WHERE l.name = $1 AND l.beat_at > now() - $2 * interval '1 millisecond'
      AND a.backend_start <= l.took_at
)

-- name: end_stale_leader
-- End the session of a leader without a recent heartbeat: its process is stopped, or its network is cut.
-- A leader that has just taken the lock may not have its row yet.
SELECT l.pid, r.worker, pg_terminate_backend(l.pid)
FROM pg_locks l
JOIN pg_stat_activity a ON a.pid = l.pid
LEFT JOIN leaders r ON r.name = $1 AND r.backend = l.pid AND r.took_at >= a.backend_start
CROSS JOIN hashtextextended('penstock.leader:' || current_schema() || ':' || $1, 0) AS k (key)
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (l.classid::bigint << 32 | l.objid::bigint) = k.key
  AND coalesce(r.beat_at, a.state_change) < now() - $2 * interval '1 millisecond'

-- name: try_to_lead
-- The lock lasts as long as this session.
SELECT pg_try_advisory_lock(hashtextextended('penstock.leader:' || current_schema() || ':' || $1, 0))

-- name: take_lead
-- Record the new leader.
INSERT INTO leaders (name, worker, backend) VALUES ($1, $2, pg_backend_pid())
ON CONFLICT (name) DO UPDATE SET worker = $2, backend = pg_backend_pid(), took_at = now(), beat_at = now()

-- name: beat_leader
-- Write the leader's heartbeat; no row if another process took over.
UPDATE leaders SET beat_at = now() WHERE name = $1 AND backend = pg_backend_pid() RETURNING true

-- name: resign
-- Give up leadership.
DELETE FROM leaders WHERE name = $1 AND backend = pg_backend_pid()

-- name: list_leaders
-- Leaders, and the age of their heartbeats.
SELECT name, worker, took_at, extract(epoch FROM now() - beat_at)::float8 AS silent_s
FROM leaders ORDER BY name
