-- name: lock_state
-- The bucket and circuit of one key, locked for the transaction, and the time by this clock.
SELECT tokens, refilled_at, reported_rate, reported_burst, paused_until, booked_until, circuit,
       failures, last_failure_at, opened_at, next_probe_at, probe_id, probe_expires_at, cost_share,
       in_flight, in_flight_until, landed_at, version, clock_timestamp() AS now
FROM provider_states WHERE org_id = $1 AND provider = $2 AND company = $3 AND domain = $4
FOR NO KEY UPDATE

-- name: add_state
-- The bucket of a key that was never called.
INSERT INTO provider_states (org_id, provider, company, domain, tokens) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING

-- name: save_state
-- The bucket and circuit after a change.
UPDATE provider_states SET tokens = $5, refilled_at = $6, reported_rate = $7, reported_burst = $8,
    paused_until = $9, booked_until = $10, circuit = $11, failures = $12, last_failure_at = $13,
    opened_at = $14, next_probe_at = $15, probe_id = $16, probe_expires_at = $17, cost_share = $18,
    in_flight = $19, in_flight_until = $20, landed_at = $21, version = version + 1
WHERE org_id = $1 AND provider = $2 AND company = $3 AND domain = $4
RETURNING version, clock_timestamp() AS now

-- name: save_if_unchanged
-- The same if the state still is the one that was decided on, with calls of the current minute. Else
-- another process has changed it: answers the row as this statement sees it.
WITH saved AS (
    UPDATE provider_states SET tokens = $5, refilled_at = $6, reported_rate = $7, reported_burst = $8,
        paused_until = $9, booked_until = $10, circuit = $11, failures = $12, last_failure_at = $13,
        opened_at = $14, next_probe_at = $15, probe_id = $16, probe_expires_at = $17, cost_share = $18,
        in_flight = $19, in_flight_until = $20, landed_at = $21, version = version + 1
    WHERE org_id = $1 AND provider = $2 AND company = $3 AND domain = $4 AND version = $22
    RETURNING version, clock_timestamp() AS now
), counted AS (
    INSERT INTO provider_calls AS c (org_id, provider, company, domain, minute, calls, failed, throttled,
                                     durations)
    SELECT $1, $2, $3, $4, date_trunc('minute', now), $23, $24, $25, $26 FROM saved WHERE $23 > 0
    ON CONFLICT (org_id, provider, company, domain, minute) DO UPDATE SET
        calls = c.calls + excluded.calls, failed = c.failed + excluded.failed,
        throttled = c.throttled + excluded.throttled,
        durations = ARRAY(SELECT a + b FROM unnest(c.durations, excluded.durations)
                          WITH ORDINALITY AS d (a, b, n) ORDER BY n)
)
SELECT true AS saved, s.version, s.now, NULL::float8 AS tokens, NULL::timestamptz AS refilled_at,
       NULL::float8 AS reported_rate, NULL::float8 AS reported_burst, NULL::timestamptz AS paused_until,
       NULL::timestamptz AS booked_until, NULL AS circuit, NULL::integer AS failures,
       NULL::timestamptz AS last_failure_at, NULL::timestamptz AS opened_at,
       NULL::timestamptz AS next_probe_at, NULL AS probe_id, NULL::timestamptz AS probe_expires_at,
       NULL::float8 AS cost_share, NULL::float8 AS in_flight, NULL::timestamptz AS in_flight_until,
       NULL::timestamptz AS landed_at
FROM saved s
UNION ALL
SELECT false, p.version, clock_timestamp(), p.tokens, p.refilled_at, p.reported_rate, p.reported_burst,
       p.paused_until, p.booked_until, p.circuit, p.failures, p.last_failure_at, p.opened_at,
       p.next_probe_at, p.probe_id, p.probe_expires_at, p.cost_share, p.in_flight, p.in_flight_until,
       p.landed_at
FROM provider_states p
WHERE p.org_id = $1 AND p.provider = $2 AND p.company = $3 AND p.domain = $4
  AND NOT EXISTS (SELECT FROM saved)

-- name: count_calls
-- Add calls to the current minute.
INSERT INTO provider_calls AS c (org_id, provider, company, domain, minute, calls, failed, throttled,
                                 durations)
VALUES ($1, $2, $3, $4, date_trunc('minute', clock_timestamp()), $5, $6, $7, $8)
ON CONFLICT (org_id, provider, company, domain, minute) DO UPDATE SET
    calls = c.calls + excluded.calls, failed = c.failed + excluded.failed,
    throttled = c.throttled + excluded.throttled,
    durations = ARRAY(SELECT a + b FROM unnest(c.durations, excluded.durations)
                      WITH ORDINALITY AS d (a, b, n) ORDER BY n)

-- name: list_states
-- Buckets and circuits that the caller may see, with the calls since a moment.
SELECT s.org_id, o.name AS org, s.provider, s.company, s.domain, s.tokens, s.refilled_at,
       s.reported_rate, s.reported_burst, s.paused_until, s.booked_until, s.circuit, s.failures,
       s.last_failure_at, s.opened_at, s.next_probe_at, s.probe_id, s.probe_expires_at,
       s.cost_share, s.in_flight, s.in_flight_until, s.landed_at, clock_timestamp() AS now,
       c.calls, c.failed, c.throttled, c.durations, own.rate
FROM provider_states s
JOIN orgs o ON o.id = s.org_id
LEFT JOIN sources own ON own.org_id = s.org_id AND s.provider = 'source' AND own.name = s.domain
    AND own.deleted_at IS NULL
CROSS JOIN LATERAL (
    SELECT coalesce(sum(m.calls), 0)::integer AS calls, coalesce(sum(m.failed), 0)::integer AS failed,
           coalesce(sum(m.throttled), 0)::integer AS throttled,
           ARRAY(SELECT sum(d.count)::integer FROM provider_calls p
                 CROSS JOIN LATERAL unnest(p.durations) WITH ORDINALITY AS d (count, place)
                 WHERE p.org_id = s.org_id AND p.provider = s.provider AND p.company = s.company
                   AND p.domain = s.domain AND p.minute >= $1
                 GROUP BY d.place ORDER BY d.place) AS durations
    FROM provider_calls m
    WHERE m.org_id = s.org_id AND m.provider = s.provider AND m.company = s.company
      AND m.domain = s.domain AND m.minute >= $1
) AS c
WHERE $3::text IS NULL OR (s.provider = $3 AND s.domain = $4)
ORDER BY s.circuit = 'closed', s.provider, s.org_id, s.company, s.domain
LIMIT $2

-- name: reset_states
-- Close the circuits of a provider, end its pauses and forget what it said about its bucket.
UPDATE provider_states SET circuit = 'closed', failures = 0, last_failure_at = NULL, opened_at = NULL,
    next_probe_at = NULL, probe_id = NULL, probe_expires_at = NULL, paused_until = NULL,
    booked_until = NULL, version = version + 1
WHERE provider = $1
RETURNING circuit

-- name: drop_old_calls
-- Forget calls of the past, some at a time.
DELETE FROM provider_calls WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM provider_calls WHERE minute < $1 ORDER BY minute LIMIT $2))
