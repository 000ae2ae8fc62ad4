-- name: add_target
-- A new target.
INSERT INTO notification_targets (id, org_id, user_id, installation, name, kind, address, shown_address,
                                  severities, events)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: count_targets
-- Targets of an org, counted up to a limit.
SELECT count(*) FROM (SELECT FROM notification_targets WHERE org_id = $1 AND deleted_at IS NULL LIMIT $2) AS t

-- name: list_targets
-- Targets that the caller may see, oldest first.
SELECT t.id, t.org_id, o.name AS org, t.user_id, t.installation, t.name, t.kind, t.shown_address,
       t.severities, t.events, t.enabled, t.silenced_until, t.created_at
FROM notification_targets t JOIN orgs o ON o.id = t.org_id
WHERE t.deleted_at IS NULL AND ($1::uuid IS NULL OR t.id = $1)
ORDER BY t.id LIMIT $2

-- name: change_target
-- Change the given settings; 0 minutes end a silence.
UPDATE notification_targets SET name = coalesce($2, name), enabled = coalesce($3, enabled),
    severities = coalesce($4, severities), events = coalesce($5, events),
    silenced_until = CASE WHEN $6::double precision IS NULL THEN silenced_until
                          ELSE now() + $6 * interval '1 minute' END
WHERE id = $1 AND deleted_at IS NULL
RETURNING id

-- name: delete_target
-- Delete a target and its address.
UPDATE notification_targets SET deleted_at = now(), enabled = false, address = ''
WHERE id = $1 AND deleted_at IS NULL
RETURNING id

-- name: addresses
-- Current addresses of targets, for sending.
SELECT id, kind, address, enabled, deleted_at IS NOT NULL AS deleted,
       coalesce(silenced_until > now(), false) AS silenced
FROM notification_targets WHERE id = ANY ($1::uuid[])

-- name: alert_targets
-- Targets of the installation.
SELECT id, org_id, user_id, severities, events, coalesce(silenced_until > now(), false) AS silenced
FROM notification_targets WHERE installation AND enabled AND deleted_at IS NULL

-- name: add_notifications
-- Messages for targets, or for users by e-mail; one that is there already is left alone.
INSERT INTO notifications (id, org_id, user_id, target_id, alert_id, event_id, event, phase, message,
                           state, error, settled_at)
SELECT n.id, n.org_id, n.user_id, n.target_id, n.alert_id, n.event_id, n.event, n.phase,
       n.message::jsonb, CASE WHEN n.silenced THEN 'dropped' ELSE 'waiting' END,
       CASE WHEN n.silenced THEN $11::jsonb END, CASE WHEN n.silenced THEN now() END
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::uuid[], $5::uuid[], $6::bigint[], $7::text[],
            $8::text[], $9::text[], $10::boolean[])
    AS n (id, org_id, user_id, target_id, alert_id, event_id, event, phase, message, silenced)
ON CONFLICT DO NOTHING

-- name: targets_of_alert
-- Targets that got the notice of an open alert.
SELECT target_id AS id, org_id, user_id FROM notifications
WHERE alert_id = $1 AND phase = 'opened' AND state <> 'dropped' AND target_id IS NOT NULL

-- name: waiting
-- Messages that are not items yet, oldest first, locked.
SELECT n.id, n.org_id, n.user_id, n.target_id, n.phase, n.message, t.kind, u.email,
       extract(epoch FROM now() - n.created_at) * 1000 AS age_ms
FROM notifications n
LEFT JOIN notification_targets t ON t.id = n.target_id
LEFT JOIN users u ON u.id = n.user_id AND n.target_id IS NULL
WHERE n.state = 'waiting' ORDER BY n.created_at, n.id LIMIT $1 FOR UPDATE OF n SKIP LOCKED

-- name: recently_picked
-- How many messages each target got in the last hour; several notices may share one.
SELECT target_id, count(DISTINCT (stream_job, row_no)) AS messages FROM notifications
WHERE target_id = ANY ($1::uuid[]) AND picked_at > now() - interval '1 hour'
GROUP BY target_id

-- name: pick
-- Record the items of messages; the key of an item is the id of its first notice.
UPDATE notifications n SET state = 'pending', stream_job = $1, row_no = i.row_no, picked_at = now()
FROM unnest($2::uuid[], $3::uuid[]) AS p (id, first)
JOIN job_items i ON i.job_id = $1 AND i.key = p.first::text
WHERE n.id = p.id

-- name: note_try
-- Record the result of an attempt.
UPDATE notifications SET state = $2, tries = tries + 1, error = $3::jsonb,
    settled_at = CASE WHEN $2 = 'pending' THEN NULL ELSE now() END
WHERE id = ANY ($1::uuid[])

-- name: note_silent_ends
-- Record messages whose item ended without a logged result: its worker crashed, or its job was ended.
UPDATE notifications n SET state = 'failed', settled_at = now(), error = i.error
FROM (SELECT id, stream_job, row_no FROM notifications WHERE state = 'pending'
      ORDER BY stream_job, row_no LIMIT $1) AS p
CROSS JOIN LATERAL (SELECT status, error FROM job_items
                    WHERE job_id = p.stream_job AND row_no = p.row_no LIMIT 1) AS i
WHERE n.id = p.id AND i.status IN ('ERROR', 'SKIPPED')

-- name: list_notifications
-- The log of messages, newest first.
SELECT n.id, n.org_id, n.target_id, t.name AS target, t.kind, n.event, n.phase, n.message, n.state,
       n.tries, n.error, n.created_at, n.settled_at
FROM notifications n LEFT JOIN notification_targets t ON t.id = n.target_id
WHERE ($1::uuid IS NULL OR n.id < $1) AND ($3::uuid IS NULL OR n.target_id = $3)
ORDER BY n.id DESC LIMIT $2

-- name: has_event_targets
-- Whether anything is sent about single events at all.
SELECT EXISTS (SELECT 1 FROM notification_targets WHERE enabled AND deleted_at IS NULL AND events <> '{}')
    OR EXISTS (SELECT 1 FROM job_mail_settings WHERE jobs <> 'none')
    OR EXISTS (SELECT 1 FROM job_watchers)

-- name: events_to_notify
-- Events of a range, each with every target that names it, and users who asked for e-mail.
WITH page AS MATERIALIZED (
    SELECT xid, id, org_id, job_id, event, worker, data, created_at FROM events
    WHERE (xid, id) > ($1::text::xid8, $2) AND (xid, id) <= ($3::text::xid8, $4)
      AND event <> ALL ($5::text[])
    ORDER BY xid, id LIMIT $6
), of_jobs AS MATERIALIZED (
    SELECT e.*, j.user_id AS owner_id, j.name AS job_name, j.pipeline
    FROM page e JOIN jobs j ON j.id = e.job_id
    WHERE e.event = ANY ($8::text[]) AND j.pipeline <> ALL ($7::text[])
)
SELECT e.id AS event_id, e.event, e.data, e.created_at, e.job_id, e.job_name, e.pipeline, e.worker,
       t.id AS target_id, t.org_id, t.user_id, coalesce(t.silenced_until > now(), false) AS silenced
FROM of_jobs e
JOIN notification_targets t ON e.event = ANY (t.events) AND t.enabled AND t.deleted_at IS NULL
    AND t.created_at <= e.created_at AND (t.installation OR t.org_id = e.org_id)
JOIN users u ON u.id = t.user_id AND u.disabled_at IS NULL
JOIN orgs o ON o.id = t.org_id
WHERE t.installation OR u.role = 'admin' OR o.shared_jobs OR e.owner_id = t.user_id
UNION ALL
SELECT e.id, e.event, e.data, e.created_at, e.job_id, NULL, NULL, e.worker, t.id, t.org_id, t.user_id,
       coalesce(t.silenced_until > now(), false)
FROM page e
JOIN notification_targets t ON t.installation AND e.event = ANY (t.events) AND t.enabled
    AND t.deleted_at IS NULL AND t.created_at <= e.created_at
WHERE e.job_id IS NULL
UNION ALL
SELECT e.id, e.event, e.data, e.created_at, e.job_id, e.job_name, e.pipeline, e.worker, NULL, u.org_id,
       u.id, false
FROM of_jobs e
CROSS JOIN LATERAL (
    SELECT s.user_id FROM job_mail_settings s
    WHERE s.user_id = e.owner_id AND (s.jobs = 'all' OR s.jobs = 'failed' AND e.event = 'job.failed')
    UNION
    SELECT w.user_id FROM job_watchers w WHERE w.job_id = e.job_id
) AS asked
JOIN users u ON u.id = asked.user_id AND u.disabled_at IS NULL
WHERE e.event = ANY ($9::text[])

-- name: watch_job
-- The user wants an e-mail when the job ends.
INSERT INTO job_watchers (job_id, user_id, org_id) SELECT id, $2, $3 FROM jobs WHERE id = $1
ON CONFLICT DO NOTHING

-- name: unwatch_job
-- The user wants no e-mail when the job ends.
DELETE FROM job_watchers WHERE job_id = $1 AND user_id = $2

-- name: set_job_mails
-- About which of their jobs a user gets e-mails.
INSERT INTO job_mail_settings (user_id, org_id, jobs) VALUES ($1, $2, $3)
ON CONFLICT (user_id) DO UPDATE SET jobs = excluded.jobs

-- name: job_mails
-- About which of their jobs a user gets e-mails.
SELECT jobs FROM job_mail_settings WHERE user_id = $1

-- name: is_watched
-- Whether the user gets an e-mail when the job ends.
SELECT EXISTS (SELECT 1 FROM job_watchers WHERE job_id = $1 AND user_id = $2)

-- name: drop_old
-- Messages that were settled long ago.
DELETE FROM notifications WHERE settled_at < now() - $1 * interval '1 day'
