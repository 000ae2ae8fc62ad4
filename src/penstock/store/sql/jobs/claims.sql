-- name: lock_claims
-- Claims run one at a time: pause, cancel and priority wait, and limits are not exceeded. Statements
-- after it use the statement's time, since the transaction's time is from before the wait.
SELECT pg_advisory_xact_lock(hashtextextended('penstock.claims:' || current_schema(), 0))

-- name: lock_claims_briefly
-- The same with a lock timeout: a claim must not wait for a locked job for longer than a moment. The
-- claim lock itself is waited for without that limit.
SELECT pg_advisory_xact_lock(hashtextextended('penstock.claims:' || current_schema(), 0)),
       set_config('lock_timeout', $1, true)

-- name: begin_claim
-- The start of a claim: the claim lock, and then a limit on waiting for a locked job.
SELECT pg_advisory_xact_lock(hashtextextended('penstock.claims:' || current_schema(), 0)),
       set_config('lock_timeout', '1s', true)

-- name: locked_jobs
-- Which of these jobs are locked by another transaction.
WITH free AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY ($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED
)
SELECT id FROM jobs WHERE id = ANY ($1::uuid[]) AND id NOT IN (SELECT id FROM free)

-- name: choose_work
-- The org with the lowest start tag plus what it already holds, among those with work due, and its next
-- work. Time is shared within a pool of workers; the cap on running slices holds over all of them. With
-- $8 only orgs that have more than ingests to do; a queued job that has yet to be read has nothing else.
-- The time of an org with running slices is that at which the first of them started, until they are
-- charged. Inside the org: priority, then the job whose turn comes first (`jobs.turn_at`); ingest first,
-- or with $8 not at all, then late stages. Only pipelines in $10, and without the jobs in $11, which are
-- locked.
WITH RECURSIVE live AS MATERIALIZED (
    -- Slices claimed together count once: many tiny jobs are one piece of work.
    SELECT org_id, sum(expected_ms) FILTER (WHERE pool = $9) AS expected_ms,
           min(vstart) FILTER (WHERE pool = $9) AS vstart,
           count(DISTINCT (worker, claimed_at)) AS slices,
           -- An expired lease takes no slot, even if it cannot be taken back yet.
           count(DISTINCT claimed_at) FILTER (WHERE worker = $1
                                              AND expires_at > statement_timestamp()) AS mine
    FROM slices GROUP BY org_id
), shut AS MATERIALIZED (
    SELECT array_agg(lane) AS lanes FROM paused_lanes
), waiting (org_id, ready_at) AS (
    (SELECT org_id, ready_at FROM jobs
     WHERE state IN ('queued', 'running', 'cancelling') AND NOT paused
     ORDER BY org_id, ready_at LIMIT 1)
    UNION ALL
    SELECT next.org_id, next.ready_at FROM waiting w CROSS JOIN LATERAL (
        SELECT org_id, ready_at FROM jobs
        WHERE state IN ('queued', 'running', 'cancelling') AND NOT paused AND org_id > w.org_id
        ORDER BY org_id, ready_at LIMIT 1
    ) AS next
), turn AS MATERIALIZED (
    SELECT w.org_id, o.weight, coalesce(greatest(t.vt, coalesce(l.vstart, c.v)), 0) AS vstart,
           count(*) OVER ()::integer AS waiting
    FROM waiting w
    JOIN orgs o ON o.id = w.org_id
    CROSS JOIN shut
    LEFT JOIN org_time t ON t.org_id = w.org_id AND t.pool = $9
    LEFT JOIN virtual_clock c ON c.pool = $9
    LEFT JOIN live l ON l.org_id = w.org_id
    WHERE w.ready_at <= statement_timestamp()
      AND coalesce(l.slices, 0) < coalesce(o.max_slices, $2) AND coalesce(l.mine, 0) < $3
      AND w.org_id <> ALL ($4::bigint[])
      -- LIMIT keeps this a probe per org: without it all stages of all jobs ever would be hashed.
      AND (($5::text[] IS NULL AND $6::text[] IS NULL AND $7::text[] IS NULL AND NOT $8::boolean
            AND shut.lanes IS NULL) OR (
          SELECT true FROM jobs j JOIN job_stages st ON st.job_id = j.id
          WHERE j.org_id = w.org_id AND j.state IN ('queued', 'running', 'cancelling') AND NOT j.paused
            AND NOT ($8 AND (st.kind = 'ingest' OR (j.state = 'queued' AND NOT j.ingest_done)))
            AND j.ready_at <= statement_timestamp() AND st.ready_at <= statement_timestamp()
            AND ($5::text[] IS NULL OR j.lane LIKE ANY ($5))
            AND ($6::text[] IS NULL OR j.pipeline = ANY ($6))
            AND ($7::text[] IS NULL OR st.name = ANY ($7))
            AND (shut.lanes IS NULL OR j.state = 'cancelling' OR j.lane <> ALL (shut.lanes))
          LIMIT 1))
    ORDER BY coalesce(greatest(t.vt, coalesce(l.vstart, c.v)), 0) + coalesce(l.expected_ms, 0) / o.weight,
        t.vt NULLS FIRST, w.org_id
    LIMIT 1
)
SELECT turn.org_id, turn.weight, turn.vstart, turn.waiting, work.*
FROM turn LEFT JOIN LATERAL (
    SELECT j.id AS job_id, j.pipeline, j.grouped, st.position, st.kind, st.name AS stage,
           st.pending, st.floor, st.avg_ms, st.avg_bytes, st.pace_ms, st.ungrouped
    FROM jobs j
    CROSS JOIN LATERAL (
        SELECT * FROM job_stages s
        WHERE s.job_id = j.id AND s.ready_at <= statement_timestamp() AND ($7::text[] IS NULL OR s.name = ANY ($7))
          AND NOT ($8::boolean AND s.kind = 'ingest')
        ORDER BY s.kind <> 'ingest', s.position DESC LIMIT 1
    ) AS st
    WHERE j.org_id = turn.org_id AND j.state IN ('queued', 'running', 'cancelling') AND NOT j.paused
      AND NOT ($8 AND j.state = 'queued' AND NOT j.ingest_done)
      AND j.ready_at <= statement_timestamp()
      AND ($5::text[] IS NULL OR j.lane LIKE ANY ($5))
      -- Every worker can finish a job that is being cancelled.
      AND (j.pipeline = ANY ($10::text[]) OR j.state = 'cancelling')
      AND (j.state = 'cancelling' OR NOT EXISTS (SELECT 1 FROM paused_lanes p WHERE p.lane = j.lane))
      AND j.id <> ALL ($11::uuid[])
    ORDER BY j.priority DESC, j.turn_at, j.id
    LIMIT 1
) AS work ON true

-- name: choose_stage_of_job
-- The same, for a worker that serves one job only.
SELECT j.id AS job_id, j.org_id, j.pipeline, j.grouped, st.position, st.kind,
       st.name AS stage, st.pending, st.floor, st.avg_ms, st.avg_bytes, st.pace_ms, st.ungrouped, o.weight,
       coalesce(greatest(t.vt, c.v), 0) AS vstart
FROM jobs j
JOIN orgs o ON o.id = j.org_id
LEFT JOIN org_time t ON t.org_id = j.org_id AND t.pool = ''
LEFT JOIN virtual_clock c ON c.pool = ''
CROSS JOIN LATERAL (
    SELECT * FROM job_stages s WHERE s.job_id = j.id AND s.ready_at <= statement_timestamp()
      AND ($3::text[] IS NULL OR s.name = ANY ($3))
    ORDER BY s.kind <> 'ingest', s.position DESC LIMIT 1
) AS st
WHERE j.id = $1 AND (j.pipeline = ANY ($2::text[]) OR j.state = 'cancelling')
  AND j.state IN ('queued', 'running', 'cancelling') AND NOT j.paused
  AND (j.state = 'cancelling' OR NOT EXISTS (SELECT 1 FROM paused_lanes p WHERE p.lane = j.lane))

-- name: pick_items
-- Candidates of a job, and if it leaves room in the claim ($5), of other jobs of the same org, pipeline,
-- stage and priority: what is due, then fresh rows in order. Of each of those at most $12 rows are
-- expected. The caller decides which to take.
WITH neighbour AS (
    SELECT n.*, sum(n.expected) OVER (ORDER BY n.place ROWS UNBOUNDED PRECEDING) - n.expected AS before
    FROM (
        SELECT j.id AS job_id, st.floor, st.pending, least(st.pending, $12::integer) AS expected,
               row_number() OVER (ORDER BY j.turn_at, j.id) AS place
        FROM jobs j
        JOIN job_stages st ON st.job_id = j.id AND st.position = $2 AND st.name = $7 AND st.kind = 'items'
        WHERE j.org_id = $8 AND j.pipeline = $9 AND j.state IN ('queued', 'running') AND NOT j.paused
          AND NOT j.grouped AND j.ready_at <= statement_timestamp()
          AND st.ready_at <= statement_timestamp() AND st.pending > 0
          AND j.priority = (SELECT priority FROM jobs WHERE id = $1) AND j.id <> $1
          AND ($10::text[] IS NULL OR j.lane LIKE ANY ($10))
          AND NOT EXISTS (SELECT 1 FROM paused_lanes p WHERE p.lane = j.lane)
          AND j.id <> ALL ($11::uuid[])
        ORDER BY j.turn_at, j.id
        LIMIT CASE WHEN $5::integer > 0 THEN $6::integer ELSE 0 END
    ) AS n
), work AS (
    SELECT $1::uuid AS job_id, 0 AS place, $3::integer AS floor, $4::integer AS size
    UNION ALL
    SELECT job_id, place, floor, least(pending, $5 - before) FROM neighbour WHERE before < $5
)
SELECT w.job_id, w.size::integer, c.row_no, c.crashes, c.fresh
FROM work w
CROSS JOIN LATERAL (
    (SELECT i.row_no, i.crashes, false AS fresh FROM job_items i
     WHERE i.job_id = w.job_id AND i.stage = $2 AND i.status = 'PENDING'
       AND i.due_at IS NOT NULL AND i.group_key IS NULL AND i.due_at <= statement_timestamp()
     ORDER BY i.due_at, i.row_no LIMIT w.size)
    UNION ALL
    (SELECT i.row_no, i.crashes, true FROM job_items i
     WHERE i.job_id = w.job_id AND i.stage = $2 AND i.status = 'PENDING'
       AND i.due_at IS NULL AND i.group_key IS NULL AND i.row_no >= w.floor
     ORDER BY i.row_no LIMIT w.size)
) AS c
ORDER BY w.place

-- name: pick_groups
-- Candidates of each free group of the job whose head is due, in row order.
WITH RECURSIVE groups (group_key) AS (
    (SELECT group_key FROM job_items
     WHERE job_id = $1 AND stage = $2 AND status = 'PENDING' AND group_key IS NOT NULL
     ORDER BY group_key LIMIT 1)
    UNION ALL
    SELECT next.group_key FROM groups g CROSS JOIN LATERAL (
        SELECT group_key FROM job_items
        WHERE job_id = $1 AND stage = $2 AND status = 'PENDING' AND group_key > g.group_key
        ORDER BY group_key LIMIT 1
    ) AS next
), free AS MATERIALIZED (
    SELECT g.group_key FROM groups g
    CROSS JOIN LATERAL (
        SELECT due_at FROM job_items i
        WHERE i.job_id = $1 AND i.stage = $2 AND i.status = 'PENDING' AND i.group_key = g.group_key
        ORDER BY i.row_no LIMIT 1
    ) AS head
    WHERE (head.due_at IS NULL OR head.due_at <= statement_timestamp())
      AND ($8::text IS NULL OR g.group_key = $8)
      AND NOT EXISTS (SELECT 1 FROM slices s
                      WHERE s.org_id = $7 AND s.pipeline = $3 AND s.stage = $4
                        AND s.group_key = g.group_key)
      AND NOT EXISTS (SELECT 1 FROM group_times t
                      WHERE t.org_id = $7 AND t.pipeline = $3 AND t.stage = $4
                        AND t.group_key = g.group_key AND t.free_at > statement_timestamp())
    LIMIT $5
)
SELECT f.group_key, t.row_no, t.crashes, coalesce(t.due_at <= statement_timestamp(), true) AS due
FROM free f CROSS JOIN LATERAL (
    SELECT i.row_no, i.crashes, i.due_at FROM job_items i
    WHERE i.job_id = $1 AND i.stage = $2 AND i.status = 'PENDING' AND i.group_key = f.group_key
    ORDER BY i.row_no LIMIT $6
) AS t
ORDER BY f.group_key, t.row_no

-- name: pick_ungrouped
-- Candidates of a job whose stage ignores groups: items with a group, in any order.
SELECT i.row_no, i.crashes, false AS fresh FROM job_items i
WHERE i.job_id = $1 AND i.stage = $2 AND i.status = 'PENDING' AND i.group_key IS NOT NULL
  AND (i.due_at IS NULL OR i.due_at <= statement_timestamp())
ORDER BY i.group_key, i.row_no LIMIT $3

-- name: pace_groups
-- Set when the next item of these groups may start, counted from this statement.
INSERT INTO group_times (org_id, pipeline, stage, group_key, free_at)
SELECT $1, $2, $3, g.group_key, statement_timestamp() + g.pace_ms * interval '1 millisecond'
FROM unnest($4::text[], $5::double precision[]) AS g (group_key, pace_ms) ORDER BY g.group_key
ON CONFLICT (org_id, pipeline, stage, group_key) DO UPDATE SET free_at = excluded.free_at

-- name: forget_paces
-- Delete paces that have passed.
DELETE FROM group_times WHERE free_at < now() - interval '1 hour'

-- name: open_slices
-- The leases of a claim, by the database's clock, and their items marked as held; answers how many.
-- Virtual time advances to where the claim started. CASE hides the status from the planner, which
-- would else walk all live items of the job instead of these rows. The jobs are locked last, for the
-- next statement, which sees what was committed until then.
WITH lease AS MATERIALIZED (
    SELECT * FROM unnest($9::uuid[], $10::uuid[], $11::text[], $12::text[], $13::double precision[])
        AS l (id, job_id, row_nos, group_key, expected_ms)
), clock AS (
    INSERT INTO virtual_clock (pool, v) SELECT $15, $14::double precision WHERE $14 IS NOT NULL
    ON CONFLICT (pool) DO UPDATE SET v = greatest(virtual_clock.v, excluded.v)
), opened AS (
    INSERT INTO slices (id, kind, job_id, org_id, pipeline, stage, position, group_key, worker,
                        row_nos, expires_at, expected_ms, vstart, pool)
    SELECT l.id, $1, l.job_id, $2, $3, $4, $5, l.group_key, $6,
           string_to_array(l.row_nos, ',')::integer[],
           statement_timestamp() + $7 * interval '1 millisecond', l.expected_ms, $8, $15
    FROM lease l
), marked AS (
    UPDATE job_items i SET status = 'PROCESSING', slice_id = l.id, updated_at = now()
    FROM unnest($9::uuid[], $10::uuid[], $11::text[]) AS l (id, job_id, row_nos)
    CROSS JOIN LATERAL unnest(string_to_array(l.row_nos, ',')::integer[]) AS t (row_no)
    WHERE i.job_id = l.job_id AND i.row_no = t.row_no
      AND CASE WHEN i.status = 'PENDING' THEN true END
    RETURNING 1
), counted AS MATERIALIZED (
    SELECT count(*) AS items FROM marked
), locked AS MATERIALIZED (
    SELECT id FROM jobs WHERE id = ANY ($10::uuid[]) AND (SELECT items FROM counted) >= 0
    ORDER BY id FOR NO KEY UPDATE
)
SELECT items FROM counted, (SELECT count(*) FROM locked) AS jobs

-- name: take_items
-- Under the jobs' locks: claimed items leave a stage's pending ones and are processing. A stage with
-- nothing left, as ingest and finish are once leased, rests; fresh rows below the floor are gone for
-- good. A job's first claim starts it, unless it is there to end it; the first claim of each other
-- stage is an event, too. Answers the jobs and items of a
-- small claim, for $7 leases with up to $11 bytes: the columns of a job are set in its first row.
-- Where nothing else of a job was due ($12), its stage is ready again when its next item is: as in
-- `rest_stage`, and without the claim that would find nothing.
WITH taken AS MATERIALIZED (
    SELECT t.job_id, t.items, t.floor, j.started_at IS NULL AND j.state <> 'cancelling' AS starts,
           j.started_at IS NOT NULL AND st.started_at IS NULL AND NOT j.standing AS enters,
           next.ready_at AS stage_ready_at,
           least(next.ready_at, (SELECT min(o.ready_at) FROM job_stages o
                                 WHERE o.job_id = t.job_id AND o.position <> $2)) AS ready_at
    FROM unnest($1::uuid[], $3::integer[], $4::integer[], $12::boolean[])
        AS t (job_id, items, floor, exhausted)
    JOIN jobs j ON j.id = t.job_id
    JOIN job_stages st ON st.job_id = t.job_id AND st.position = $2
    CROSS JOIN LATERAL (
        SELECT CASE WHEN st.pending = t.items THEN 'infinity'
                    WHEN t.exhausted THEN coalesce(
                        least((SELECT now() FROM job_items i
                               WHERE i.job_id = t.job_id AND i.stage = $2 AND i.status = 'PENDING'
                                 AND i.due_at IS NULL AND i.group_key IS NULL
                                 AND i.row_no >= greatest(st.floor, t.floor) LIMIT 1),
                              (SELECT min(due_at) FROM job_items i
                               WHERE i.job_id = t.job_id AND i.stage = $2 AND i.status = 'PENDING'
                                 AND i.due_at IS NOT NULL AND i.group_key IS NULL)),
                        'infinity')
                    ELSE st.ready_at END AS ready_at
    ) AS next
), staged AS (
    UPDATE job_stages st SET pending = st.pending - t.items, floor = greatest(st.floor, t.floor),
        ready_at = t.stage_ready_at,
        started_at = coalesce(st.started_at, now())
    FROM taken t WHERE st.job_id = t.job_id AND st.position = $2
), changed AS (
    UPDATE jobs j SET pending = j.pending - t.items, processing = j.processing + t.items,
        state = CASE WHEN j.state = 'queued' THEN 'running' ELSE j.state END,
        -- The claim may have waited while the job was submitted.
        started_at = CASE WHEN t.starts THEN greatest(now(), j.queued_at) ELSE j.started_at END, stage = $6,
        heartbeat_at = now(), updated_at = now(), seq = j.seq + (t.starts OR t.enters)::integer,
        ready_at = t.ready_at
    FROM taken t
    WHERE j.id = t.job_id
    RETURNING j.*, t.starts, t.enters
), told AS (
    INSERT INTO events (xid, org_id, job_id, seq, event, worker, data)
    SELECT greatest(pg_current_xact_id(), (SELECT p.xid FROM events p
                                           WHERE p.job_id = c.id AND p.seq < c.seq
                                           ORDER BY p.seq DESC LIMIT 1)),
           c.org_id, c.id, c.seq, CASE WHEN c.starts THEN 'job.started' ELSE 'job.status' END, $5,
           CASE WHEN c.starts THEN jsonb_build_object('pipeline', c.pipeline)
                ELSE jsonb_build_object('stage', $6) END
    FROM changed c WHERE c.starts OR c.enters
), item AS (
    SELECT i.slice_id, i.job_id, i.row_no, CASE WHEN $10::text IS NULL THEN i.input END AS input,
           CASE WHEN $10 IS NULL THEN i.normalized ELSE i.normalized->$10 END AS normalized,
           i.attempts, i.generation, i.key, i.group_key,
           CASE WHEN $10 IS NULL THEN i.noticed END AS noticed,
           pg_column_size(i.input) + coalesce(pg_column_size(i.normalized), 0)
               + coalesce(pg_column_size(i.noticed), 0) AS bytes
    FROM unnest($7::uuid[], $8::uuid[], $9::text[]) AS l (slice_id, job_id, row_nos)
    CROSS JOIN LATERAL unnest(string_to_array(l.row_nos, ',')::integer[]) AS t (row_no)
    JOIN job_items i ON i.job_id = l.job_id AND i.row_no = t.row_no AND i.slice_id = l.slice_id
), loaded AS (
    SELECT c.*, i.slice_id, i.row_no, i.input, i.normalized, i.attempts AS item_attempts,
           i.generation AS item_generation, i.key, i.group_key, i.noticed,
           row_number() OVER (PARTITION BY c.id ORDER BY i.row_no) = 1 AS is_first,
           sum(coalesce(i.bytes, 0) + pg_column_size(c.config)
               + coalesce(pg_column_size(c.header), 0) + pg_column_size(c.context)
               + coalesce(pg_column_size(c.ingest_cursor), 0)) OVER () AS bytes
    FROM changed c LEFT JOIN item i ON i.job_id = c.id
    WHERE cardinality($7) > 0
)
SELECT l.slice_id, l.id AS job_id, l.row_no, l.input, l.normalized, l.item_attempts,
       l.item_generation, l.key, l.group_key, l.noticed, job.*
FROM loaded l LEFT JOIN LATERAL (
    SELECT l.id, l.org_id, l.user_id, l.pipeline, l.config, l.header, l.context, l.state, l.ending,
           l.standing, CASE WHEN l.ingest_done THEN NULL ELSE l.ingest_cursor END AS ingest_cursor,
           l.ingest_done, l.attempts, l.needs_finish, l.last_error, l.total, l.pending, l.processing,
           l.done, l.error, l.not_found, l.skipped, l.lane, l.traceparent,
           f.id AS file_id, f.name AS file_name, f.sha256, f.size, f.media_type, f.blob_key,
           ARRAY(SELECT to_json(f)::text FROM job_files m JOIN files f ON f.id = m.file_id
                 WHERE m.job_id = l.id ORDER BY m.place) AS more_files
    FROM (SELECT) AS one LEFT JOIN files f ON f.id = l.file_id
    WHERE l.is_first
) AS job ON true
WHERE l.bytes <= $11::bigint
ORDER BY l.id, l.row_no

-- name: rest_stage
-- The claim found nothing: the stage is ready again when its next item is due. Under the job's
-- lock: a settle that committed since has its items seen here, and its ready_at is not lost.
UPDATE job_stages st SET ready_at = coalesce(
    least((SELECT now() FROM job_items i
           WHERE i.job_id = $1 AND i.stage = $2 AND i.status = 'PENDING' AND i.due_at IS NULL
             AND i.group_key IS NULL AND i.row_no >= st.floor LIMIT 1),
          (SELECT min(due_at) FROM job_items i
           WHERE i.job_id = $1 AND i.stage = $2 AND i.status = 'PENDING' AND i.due_at IS NOT NULL
             AND i.group_key IS NULL),
          (SELECT min(due_at) FROM job_items i
           WHERE i.job_id = $1 AND i.stage = $2 AND i.status = 'PENDING'
             AND i.group_key IS NOT NULL AND i.due_at > now()),
          -- Another slice may hold a group: check again soon.
          (SELECT now() + interval '500 milliseconds' FROM job_items i
           WHERE i.job_id = $1 AND i.stage = $2 AND i.status = 'PENDING'
             AND i.group_key IS NOT NULL AND (i.due_at IS NULL OR i.due_at <= now())
             AND NOT EXISTS (SELECT 1 FROM group_times t JOIN jobs j ON j.id = $1
                             WHERE t.org_id = j.org_id AND t.pipeline = j.pipeline
                               AND t.stage = st.name AND t.group_key = i.group_key
                               AND t.free_at > now())
           LIMIT 1),
          -- Or the group waits for its pace.
          (SELECT min(t.free_at) FROM group_times t JOIN jobs j ON j.id = $1
           WHERE t.org_id = j.org_id AND t.pipeline = j.pipeline AND t.stage = st.name
             AND t.free_at > now()
             AND EXISTS (SELECT 1 FROM job_items i
                         WHERE i.job_id = $1 AND i.stage = $2 AND i.status = 'PENDING'
                           AND i.group_key = t.group_key LIMIT 1))),
    'infinity')
WHERE st.job_id = $1 AND st.position = $2 AND st.ready_at <= now()

-- name: refresh_ready
-- A job is ready when the first of its stages is.
UPDATE jobs j SET ready_at = r.ready_at
FROM (SELECT job_id, min(ready_at) AS ready_at FROM job_stages
      WHERE job_id = ANY ($1::uuid[]) GROUP BY job_id) AS r
WHERE j.id = r.job_id AND j.ready_at IS DISTINCT FROM r.ready_at

-- name: load_items
-- The items a worker holds, in row order; with $4 only that member of their checkpoints.
SELECT i.slice_id, i.job_id, i.row_no, CASE WHEN $4::text IS NULL THEN i.input END AS input,
       CASE WHEN $4 IS NULL THEN i.normalized ELSE i.normalized->$4 END AS normalized,
       i.attempts, i.generation, i.key, i.group_key, CASE WHEN $4 IS NULL THEN i.noticed END AS noticed
FROM unnest($1::uuid[], $2::uuid[], $3::text[]) AS l (slice_id, job_id, row_nos)
CROSS JOIN LATERAL unnest(string_to_array(l.row_nos, ',')::integer[]) AS t (row_no)
JOIN job_items i ON i.job_id = l.job_id AND i.row_no = t.row_no AND i.slice_id = l.slice_id
ORDER BY i.job_id, i.row_no

-- name: load_jobs
-- The jobs of a claim, as pipelines see them.
SELECT j.id, j.org_id, j.user_id, j.pipeline, j.config, j.header, j.context, j.state, j.ending, j.standing,
       CASE WHEN j.ingest_done THEN NULL ELSE j.ingest_cursor END AS ingest_cursor, j.ingest_done, j.attempts, j.needs_finish, j.last_error,
       j.total, j.pending, j.processing, j.done, j.error, j.not_found, j.skipped, j.lane,
       j.traceparent,
       f.id AS file_id, f.name AS file_name, f.sha256, f.size, f.media_type, f.blob_key,
       ARRAY(SELECT to_json(f)::text FROM job_files m JOIN files f ON f.id = m.file_id
             WHERE m.job_id = j.id ORDER BY m.place) AS more_files
FROM jobs j LEFT JOIN files f ON f.id = j.file_id
WHERE j.id = ANY ($1::uuid[])

-- name: next_ready
-- Milliseconds until something may be claimed, for a worker whose claim found nothing $1 milliseconds
-- ago. What was due then is for other workers, or over a limit.
SELECT extract(epoch FROM min(ready_at) - statement_timestamp()) * 1000
FROM jobs
WHERE state IN ('queued', 'running', 'cancelling') AND NOT paused AND ready_at < 'infinity'
  AND ready_at > statement_timestamp() - $1 * interval '1 millisecond'

-- name: extend_slices
-- A heartbeat: extend the leases that are still held.
WITH held AS MATERIALIZED (
    SELECT id FROM slices WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE
)
UPDATE slices s SET expires_at = now() + $2 * interval '1 millisecond'
FROM held WHERE s.id = held.id
RETURNING s.id, true AS extended

-- name: extend_free_slices
-- The same, without waiting: one that is locked is still held, but not extended.
WITH held AS MATERIALIZED (
    SELECT id FROM slices WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE SKIP LOCKED
), extended AS (
    UPDATE slices s SET expires_at = now() + $2 * interval '1 millisecond'
    FROM held WHERE s.id = held.id
)
SELECT s.id, s.id IN (SELECT id FROM held) AS extended FROM slices s WHERE s.id = ANY ($1::uuid[])

-- name: limit_waits
-- How long this session waits for a lock.
SELECT set_config('lock_timeout', $1, false)
