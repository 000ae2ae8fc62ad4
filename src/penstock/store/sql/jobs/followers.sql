-- name: add_cursor
-- A follower begins with the events that are committed from now on.
INSERT INTO event_cursors (name) VALUES ($1) ON CONFLICT (name) DO NOTHING

-- name: news
-- Whether there is anything to look at, without a lock: an idle installation writes nothing. A place
-- in the future comes from another server, from which this database was restored: transactions are
-- numbered from the start again, and older events seem to be in the future, too.
SELECT true FROM event_cursors c
CROSS JOIN LATERAL (SELECT c.xid > pg_snapshot_xmax(pg_current_snapshot()) AS restored) AS r
CROSS JOIN LATERAL (
    SELECT 1 FROM events e
    WHERE (e.xid, e.id) > (CASE WHEN r.restored THEN '0' ELSE c.xid END,
                           CASE WHEN r.restored THEN 0 ELSE c.event_id END)
      AND e.xid < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY e.xid, e.id LIMIT 1) AS first
WHERE c.name = $1

-- name: hold_cursor
-- Lock a follower's cursor, so that two leaders take turns.
SELECT (CASE WHEN r.restored THEN '0' ELSE c.xid END)::text AS xid,
       CASE WHEN r.restored THEN 0 ELSE c.event_id END AS event_id
FROM event_cursors c
CROSS JOIN LATERAL (SELECT c.xid > pg_snapshot_xmax(pg_current_snapshot()) AS restored) AS r
WHERE c.name = $1 FOR UPDATE OF c

-- name: page_end
-- The last of the next events in the order of their commits, and how many they are: only what no
-- open transaction can still precede.
SELECT count(*) AS events, (max(ARRAY[e.xid::text::numeric, e.id]))[1]::text AS xid,
       (max(ARRAY[e.xid::text::numeric, e.id]))[2]::bigint AS id
FROM (SELECT xid, id FROM events
      WHERE (xid, id) > ($1::text::xid8, $2) AND xid < pg_snapshot_xmin(pg_current_snapshot())
      ORDER BY xid, id LIMIT $3) AS e

-- name: move_cursor
-- Record that all events up to this place are handled.
UPDATE event_cursors SET xid = $2::text::xid8, event_id = $3 WHERE name = $1
