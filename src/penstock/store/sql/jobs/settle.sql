-- name: take_slices
-- The fence: a slice that is gone was lost, and nothing of it may be written. Locked in order, as
-- heartbeats do, so that the two never wait for each other.
WITH held AS MATERIALIZED (
    SELECT id FROM slices WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE
)
DELETE FROM slices s USING held WHERE s.id = held.id
RETURNING s.id

-- name: hold_slices
-- The fence of a write in the middle of a lease (an ingest batch, a piece of a slice): it stays.
-- Written, not only locked, so that a history of the table shows under which lease a write was.
WITH held AS MATERIALIZED (
    SELECT id FROM slices WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE
)
UPDATE slices s SET expires_at = s.expires_at FROM held WHERE s.id = held.id
RETURNING s.id

-- name: settle_items
-- Each item's transition, guarded by the slice and the generation that hold it (a held item is
-- PROCESSING by a CHECK).
UPDATE job_items i SET
    status = o.status, stage = o.stage, attempts = o.attempts, slice_id = NULL,
    due_at = CASE WHEN o.delay_ms >= 0 THEN now() + o.delay_ms * interval '1 millisecond' END,
    crashes = 0, solo_crashes = 0,
    normalized = coalesce(o.normalized, i.normalized),
    problems = CASE WHEN o.normalized IS NULL THEN i.problems
                    ELSE (o.normalized->$13::text)::jsonb END,
    result = CASE WHEN o.adds THEN (coalesce(i.result::jsonb, '{}') || o.result::jsonb)::json
                  ELSE coalesce(o.result::json, i.result) END,
    error = o.error::jsonb, updated_at = now()
FROM (
    SELECT job_id, row_no, slice_id, generation, status, stage, attempts, delay_ms, adds,
           document::json AS normalized, result, error
    FROM unnest(string_to_array($1, ',')::uuid[], string_to_array($2, ',')::integer[],
                string_to_array($3, ',')::uuid[], string_to_array($4, ',')::integer[],
                string_to_array($5, ','), string_to_array($6, ',')::smallint[],
                string_to_array($7, ',')::smallint[], string_to_array($8, ',')::double precision[],
                string_to_array($9, ',')::boolean[], $10::text[], $11::text[], $12::text[])
        AS o (job_id, row_no, slice_id, generation, status, stage, attempts, delay_ms, adds,
              document, result, error)
    OFFSET 0 -- read once, used twice
) AS o
WHERE i.job_id = o.job_id AND i.row_no = o.row_no AND i.slice_id = o.slice_id
  AND i.generation = o.generation

-- name: release_items
-- Items that were not started go back as they came, without an attempt.
UPDATE job_items i SET status = 'PENDING', slice_id = NULL, due_at = now(), updated_at = now()
FROM unnest(string_to_array($1, ',')::uuid[], string_to_array($2, ',')::integer[],
            string_to_array($3, ',')::uuid[]) AS o (job_id, row_no, slice_id)
WHERE i.job_id = o.job_id AND i.row_no = o.row_no AND i.slice_id = o.slice_id

-- name: lock_jobs
-- Jobs are locked after items and in order: two settles over the same jobs never deadlock.
SELECT id FROM jobs WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE

-- name: add_children
-- Children of a job, under its lock; a key the job has is left alone. Rows are dense.
WITH child AS (
    SELECT c.*, row_number() OVER (ORDER BY c.n) AS place FROM (
        SELECT DISTINCT ON (c.key) c.* FROM unnest(
            $2::integer[], $3::text[], $4::integer[], $5::smallint[], $6::text[], $7::text[])
            AS c (n, key, parent_row, stage, group_key, input)
        ORDER BY c.key, c.n
    ) AS c
    WHERE NOT EXISTS (SELECT 1 FROM job_items i WHERE i.job_id = $1 AND i.key = c.key)
)
INSERT INTO job_items (job_id, row_no, org_id, user_id, job_type, stage, generation, parent_row,
                       key, group_key, input)
SELECT j.id, j.total + c.place, j.org_id, j.user_id, j.pipeline, c.stage, 1, c.parent_row,
       c.key, c.group_key, c.input::jsonb
FROM child c CROSS JOIN jobs j WHERE j.id = $1
RETURNING stage, group_key IS NOT NULL AS grouped

-- name: move_stages
-- Under the jobs' locks, taken here: items left some stages and entered others; what became
-- claimable is ready.
WITH locked AS MATERIALIZED (
    SELECT id, has_barrier FROM jobs WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE job_stages st SET
        pending = st.pending + m.pending, open = st.open + m.open,
        moved_at = CASE WHEN m.item_ms IS NOT NULL OR m.open < 0 THEN now() ELSE st.moved_at END,
        ready_at = CASE
            WHEN m.delay_ms IS NULL OR (st.barrier AND st.ready_at = 'infinity')
                OR st.pending + m.pending <= 0 THEN st.ready_at
            ELSE least(st.ready_at, now() + m.delay_ms * interval '1 millisecond') END,
        avg_ms = CASE WHEN m.item_ms IS NULL THEN st.avg_ms
                      WHEN st.avg_ms IS NULL THEN m.item_ms
                      ELSE st.avg_ms + 0.3 * (m.item_ms - st.avg_ms) END
    FROM unnest($2::uuid[], $3::smallint[], $4::integer[], $5::integer[], $6::double precision[],
                $7::real[]) AS m (job_id, position, pending, open, delay_ms, item_ms)
    JOIN locked l ON l.id = m.job_id
    WHERE st.job_id = m.job_id AND st.position = m.position
)
SELECT id, has_barrier FROM locked

-- name: move_barriers
-- A barrier opens when all rows are in, none is still to be reopened, and nothing is in an earlier
-- stage; else it is shut.
UPDATE job_stages st SET ready_at = CASE
    WHEN NOT j.ingest_done OR j.reopening IS NOT NULL OR EXISTS (
        SELECT 1 FROM job_stages e
        WHERE e.job_id = st.job_id AND e.kind IN ('ranges', 'items') AND e.position < st.position
          AND e.open > 0)
        THEN 'infinity'
    WHEN st.ready_at = 'infinity' AND st.pending > 0 THEN now()
    ELSE st.ready_at END
FROM jobs j
WHERE j.id = st.job_id AND st.barrier AND st.job_id = ANY ($1::uuid[])

-- name: move_jobs
-- Counters, progress and completion of each job, under its lock, in the one statement that decides
-- completion. A job that needs no summary ends with its last item; what is answered of its progress is
-- that of the moment before.
WITH move AS (
    SELECT * FROM unnest($1::uuid[], $2::integer[], $3::integer[], $4::integer[], $5::integer[],
                         $6::integer[], $7::integer[], $8::integer[], $9::integer[])
        AS m (job_id, total, pending, processing, done, error, not_found, skipped, events)
), way AS (
    SELECT st.job_id, min(st.ready_at) AS ready_at, sum(st.open * st.before) AS passed
    FROM job_stages st WHERE st.job_id = ANY ($1::uuid[]) GROUP BY st.job_id
), next AS (
    SELECT m.*, w.ready_at, j.stage,
        -- Items that are still to be reopened do not count as done.
        CASE WHEN j.reopening IS NOT NULL THEN j.percent ELSE least(99.9, greatest(j.percent, 100 * (
            (j.done + m.done + j.error + m.error + j.not_found + m.not_found + j.skipped + m.skipped
             + coalesce(w.passed, 0))
            / greatest(1, CASE WHEN j.ingest_done OR j.bytes_read <= 0 THEN j.total + m.total
                               ELSE (j.total + m.total) * greatest(1, j.bytes_total::float8 / j.bytes_read)
                          END)))) END AS percent,
        j.progress_at IS NULL OR j.progress_at < now() - interval '500 milliseconds' AS tells_progress,
        j.ingest_done AND j.reopening IS NULL AND NOT j.standing AND j.state IN ('queued', 'running')
            AND j.pending + m.pending + j.processing + m.processing = 0 AS complete,
        j.needs_finish
    FROM move m JOIN way w ON w.job_id = m.job_id JOIN jobs j ON j.id = m.job_id
), ending AS (
    SELECT n.*, n.complete AND NOT n.needs_finish AS ends FROM next n
), moved AS (
    UPDATE jobs j SET
        total = j.total + n.total, pending = j.pending + n.pending,
        processing = j.processing + n.processing, done = j.done + n.done, error = j.error + n.error,
        not_found = j.not_found + n.not_found, skipped = j.skipped + n.skipped,
        served_at = now(), heartbeat_at = now(), updated_at = now(), grouped = j.grouped OR $10,
        state = CASE WHEN n.ends THEN 'done' ELSE j.state END,
        finished_at = CASE WHEN n.ends THEN now() ELSE j.finished_at END,
        ready_at = CASE WHEN n.ends THEN 'infinity' ELSE n.ready_at END,
        percent = CASE WHEN n.ends THEN 100 ELSE n.percent END,
        stage = CASE WHEN n.ends THEN NULL ELSE j.stage END, paused = j.paused AND NOT n.ends,
        seq = j.seq + n.events + n.tells_progress::integer + n.ends::integer,
        progress_at = CASE WHEN n.tells_progress THEN now() ELSE j.progress_at END
    FROM ending n
    WHERE j.id = n.job_id
    RETURNING j.id, j.org_id, j.seq, j.state, j.needs_finish, n.percent::real AS percent, n.stage, j.total,
        j.lane, j.pipeline, j.pending, j.processing, j.done, j.error, j.not_found, j.skipped,
        n.tells_progress, (extract(epoch FROM now() - j.started_at) * 1000)::bigint AS elapsed_ms,
        n.complete, n.ends, j.generation, j.kept_rows, j.attempts, j.queued_at, j.due_at, j.started_at, j.finished_at
), measured AS (
    INSERT INTO job_metrics (org_id, job_id, generation, pipeline, lane, status, success, code, queued_ms,
                             run_ms, total_ms, total, done, error, not_found, skipped, attempts)
    SELECT e.org_id, e.id, e.generation, e.pipeline, e.lane, e.state,
           e.error = 0 OR e.done + e.not_found > 0, NULL,
           greatest(0, extract(epoch FROM coalesce(e.started_at, e.finished_at)
                                          - greatest(e.queued_at, e.due_at)) * 1000)::bigint,
           coalesce(extract(epoch FROM e.finished_at - e.started_at) * 1000, 0)::bigint,
           greatest(0, extract(epoch FROM e.finished_at - greatest(e.queued_at, e.due_at)) * 1000)::bigint,
           e.total - e.kept_rows, e.done, least(e.error, e.total - e.kept_rows), e.not_found, e.skipped,
           e.attempts
    FROM moved e WHERE e.ends
)
SELECT * FROM moved

-- name: count_errors
-- How often each error code ended an item of a job.
INSERT INTO job_errors (job_id, org_id, code, count)
SELECT e.job_id, e.org_id, e.code, e.count
FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::integer[]) AS e (job_id, org_id, code, count)
ON CONFLICT (job_id, code) DO UPDATE SET count = job_errors.count + excluded.count

-- name: add_events
-- Events, in the transaction of the change that they describe, numbered under the job's lock. Their
-- place in the stream over all jobs is not before that of the job's previous event, whose transaction
-- may have begun later than this one, so that both orders agree. That transaction is committed, so
-- no reader that waits for this one can be past it.
INSERT INTO events (xid, org_id, job_id, seq, event, worker, data)
SELECT greatest(pg_current_xact_id(), (SELECT p.xid FROM events p
                                       WHERE p.job_id = e.job_id AND p.seq < e.seq
                                       ORDER BY p.seq DESC LIMIT 1)),
       e.org_id, e.job_id, e.seq, e.event, $6, e.data::jsonb
FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[], $5::text[])
    AS e (org_id, job_id, seq, event, data)
ORDER BY e.job_id, e.seq

-- name: next_seq
-- Reserve event numbers of a job, under its lock.
UPDATE jobs SET seq = seq + $2 WHERE id = $1 RETURNING seq, org_id

-- name: charge_org
-- An org's virtual time moves by what its slice took, divided by its weight. Locked last.
INSERT INTO org_time (org_id, pool, vt)
SELECT id, $4, $2::double precision + $3::double precision / weight FROM orgs WHERE id = $1
ON CONFLICT (org_id, pool) DO UPDATE
SET vt = greatest(org_time.vt, $2) + $3 / (SELECT weight FROM orgs WHERE id = $1)

-- name: ready_finish
-- All items are terminal: the summary may be made.
UPDATE job_stages SET ready_at = now(), pending = 0, open = 0
WHERE job_id = ANY ($1::uuid[]) AND kind = 'finish'

-- name: ready_jobs
-- … and the job can be claimed for it at once, even if it is paused.
WITH was AS (SELECT id, paused FROM jobs WHERE id = ANY ($1::uuid[]))
UPDATE jobs j SET ready_at = now(), paused = false, seq = j.seq + was.paused::integer
FROM was WHERE j.id = was.id
RETURNING j.id, j.org_id, j.seq, was.paused

-- name: end_jobs
-- A job whose items are all terminal is done.
WITH ended AS (
    UPDATE jobs SET state = 'done', percent = 100, finished_at = now(), updated_at = now(),
        ready_at = 'infinity', stage = NULL, paused = false, seq = seq + 1,
        summary = coalesce($2::jsonb, summary)
    WHERE id = ANY ($1::uuid[]) AND state IN ('queued', 'running') AND pending + processing = 0
    RETURNING id, org_id, seq, total, done, error, not_found, skipped, summary, generation, kept_rows,
        pipeline, lane, state, standing, attempts, queued_at, due_at, started_at, finished_at,
        (extract(epoch FROM now() - coalesce(started_at, now())) * 1000)::bigint AS elapsed_ms
), measured AS (
    INSERT INTO job_metrics (org_id, job_id, generation, pipeline, lane, status, success, code, queued_ms,
                             run_ms, total_ms, total, done, error, not_found, skipped, attempts)
    SELECT e.org_id, e.id, e.generation, e.pipeline, e.lane, e.state,
           e.error = 0 OR e.done + e.not_found > 0, CASE WHEN e.error > 0 THEN (SELECT r.code FROM job_errors r
               WHERE r.job_id = e.id ORDER BY r.count DESC, r.code LIMIT 1) END,
           greatest(0, extract(epoch FROM coalesce(e.started_at, e.finished_at)
                                          - greatest(e.queued_at, e.due_at)) * 1000)::bigint,
           coalesce(extract(epoch FROM e.finished_at - e.started_at) * 1000, 0)::bigint,
           greatest(0, extract(epoch FROM e.finished_at - greatest(e.queued_at, e.due_at)) * 1000)::bigint,
           e.total - e.kept_rows, e.done, least(e.error, e.total - e.kept_rows), e.not_found, e.skipped,
           e.attempts
    FROM ended e WHERE NOT e.standing
)
SELECT * FROM ended

-- name: name_errors
-- The most frequent error of jobs that ended with this settle, whose errors are counted now.
UPDATE job_metrics m SET code = (SELECT r.code FROM job_errors r WHERE r.job_id = m.job_id
                                 ORDER BY r.count DESC, r.code LIMIT 1)
WHERE m.job_id = ANY ($1::uuid[]) AND m.code IS NULL AND m.error > 0
