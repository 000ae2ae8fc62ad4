-- name: add_worker
-- Register a worker.
INSERT INTO workers (id, host, pid, slots) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET stopped_at = NULL, heartbeat_at = now()

-- name: beat_worker
-- Write a heartbeat; answers whether the queue is overloaded, unless the record is too old.
UPDATE workers SET heartbeat_at = now(), stopped_at = NULL, figures = coalesce($2::jsonb, figures)
WHERE id = $1
RETURNING (SELECT level = 'overload' AND checked_at > now() - interval '1 minute' FROM intake)

-- name: stop_worker
-- Mark a worker as stopped.
UPDATE workers SET stopped_at = now() WHERE id = $1

-- name: local_workers
-- Workers of this machine that have not stopped regularly.
SELECT id FROM workers WHERE host = $1 AND stopped_at IS NULL
