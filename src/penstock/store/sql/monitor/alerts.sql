-- name: open_alerts
-- Alerts that are not resolved.
SELECT id, key, event, severity, message, value, threshold, opened_at FROM alerts
WHERE resolved_at IS NULL ORDER BY opened_at

-- name: add_alert
-- Open an alert for a check that fails now.
INSERT INTO alerts (id, key, event, severity, message, value, threshold)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (key) WHERE resolved_at IS NULL DO NOTHING
RETURNING opened_at

-- name: update_alert
-- Update an open alert with the newest value.
UPDATE alerts SET message = $2, value = $3, threshold = $4, updated_at = now() WHERE id = $1

-- name: resolve_alert
-- Resolve an alert whose check passes again.
UPDATE alerts SET resolved_at = now(), updated_at = now() WHERE id = $1 AND resolved_at IS NULL
RETURNING opened_at, resolved_at

-- name: list_alerts
-- Alerts, the newest first; open ones only, if asked.
SELECT a.id, a.key, a.event, a.severity, a.message, a.value, a.threshold, a.opened_at, a.updated_at,
       a.resolved_at, s.until AS silenced_until, s.reason AS silence_reason
FROM alerts a LEFT JOIN alert_silences s ON s.key = a.key AND s.until > now()
WHERE (NOT $1::boolean OR a.resolved_at IS NULL)
  AND ($2::timestamptz IS NULL OR (a.opened_at, a.id) < ($2, $3::uuid))
ORDER BY a.opened_at DESC, a.id DESC LIMIT $4

-- name: get_alert
-- One alert.
SELECT a.id, a.key, a.event, a.severity, a.message, a.value, a.threshold, a.opened_at, a.updated_at,
       a.resolved_at, s.until AS silenced_until, s.reason AS silence_reason
FROM alerts a LEFT JOIN alert_silences s ON s.key = a.key AND s.until > now()
WHERE a.id = $1

-- name: silence
-- Send nothing about a check for so many minutes; 0 ends the silence.
INSERT INTO alert_silences (key, until, reason, user_id)
VALUES ($1, now() + $2 * interval '1 minute', $3, $4)
ON CONFLICT (key) DO UPDATE SET until = excluded.until, reason = excluded.reason,
    user_id = excluded.user_id, created_at = now()

-- name: silenced_keys
-- Checks about which nothing is sent now.
SELECT key FROM alert_silences WHERE until > now()

-- name: drop_old_alerts
-- Alerts that were resolved long ago, and silences that have ended.
WITH gone AS (DELETE FROM alert_silences WHERE until < now() - interval '1 day')
DELETE FROM alerts WHERE resolved_at < now() - $1 * interval '1 day'
