-- name: overdue_jobs
-- Jobs with a lease that has lasted for the whole limit without a settle. `updated_at` is renewed
-- by every settle, batch, pause and resume; a job that waits for its turn or a due time has no lease.
SELECT j.id, min(s.claimed_at) AS claimed_at, min(s.worker) AS worker, min(s.stage) AS stage
FROM slices s JOIN jobs j ON j.id = s.job_id
WHERE s.claimed_at < now() - $1 * interval '1 millisecond' AND s.expires_at > now()
  AND j.updated_at < now() - $1 * interval '1 millisecond'
  AND j.state IN ('queued', 'running') AND NOT j.paused AND NOT j.standing
  AND ($2::uuid IS NULL OR j.id = $2)
GROUP BY j.id ORDER BY j.id LIMIT $3

-- name: stuck_jobs
-- Live jobs that rest although they have work: nothing of them is held, and they are not claimable
-- before a time that is later than the truth, or never. One that was changed in the future was so
-- before the server's clock went back, and so were the times it waits for.
SELECT j.id FROM jobs j
WHERE j.state IN ('queued', 'running', 'cancelling')
  AND (j.updated_at < now() - $1 * interval '1 millisecond'
       OR j.updated_at > now() + $1 * interval '1 millisecond')
  -- Its items are still being reopened.
  AND j.reopening IS NULL
  AND NOT EXISTS (SELECT 1 FROM slices s WHERE s.job_id = j.id)
  AND CASE
    WHEN j.paused THEN j.ingest_done AND NOT j.standing AND j.pending + j.processing = 0
    WHEN j.ready_at <= now() THEN false
    WHEN j.updated_at > now() THEN true
    -- Nothing to do yet, or no more than to wait for items to come.
    WHEN j.standing AND j.ready_at = 'infinity' AND j.ingest_done AND j.pending + j.processing = 0
        THEN false
    WHEN j.ready_at = 'infinity' THEN true
    ELSE j.ready_at > (SELECT min(st.ready_at) FROM job_stages st WHERE st.job_id = j.id)
      OR EXISTS (
        SELECT 1 FROM job_stages st CROSS JOIN LATERAL (
            SELECT 1 FROM job_items i
            WHERE i.job_id = st.job_id AND i.stage = st.position AND i.status = 'PENDING'
              AND i.group_key IS NULL AND i.due_at IS NOT NULL
              AND i.due_at < now() - $1 * interval '1 millisecond'
            ORDER BY i.due_at LIMIT 1) AS late
        WHERE st.job_id = j.id AND st.kind = 'items' AND NOT st.barrier AND j.ingest_done)
      -- Items that wait for nothing but their first turn, in a stage that opens in the future.
      OR (j.due_at IS NULL OR j.due_at <= now()) AND EXISTS (
        SELECT 1 FROM job_stages st CROSS JOIN LATERAL (
            SELECT 1 FROM job_items i
            WHERE i.job_id = st.job_id AND i.stage = st.position AND i.status = 'PENDING'
              AND i.group_key IS NULL AND i.due_at IS NULL
            ORDER BY i.row_no LIMIT 1) AS fresh
        WHERE st.job_id = j.id AND st.kind = 'items' AND NOT st.barrier AND j.ingest_done
          AND st.ready_at > now() + $1 * interval '1 millisecond' AND st.ready_at < 'infinity')
  END
LIMIT $2

-- name: is_held
-- Whether the job has a lease.
SELECT EXISTS (SELECT 1 FROM slices WHERE job_id = $1)

-- name: free_items
-- Release items whose lease no longer exists.
UPDATE job_items i SET status = 'PENDING', slice_id = NULL, due_at = now(), updated_at = now()
FROM unnest(ARRAY(
    SELECT row_no FROM job_items WHERE job_id = $1 AND status = 'PROCESSING')) AS o (row_no)
WHERE i.job_id = $1 AND i.row_no = o.row_no AND i.status = 'PROCESSING'

-- name: open_counts
-- Items of a job that still wait, by stage, and when the first of each is due.
SELECT stage, count(*)::integer AS pending,
       greatest(0, extract(epoch FROM min(coalesce(due_at, now())) - now()) * 1000)::float8 AS delay_ms
FROM job_items WHERE job_id = $1 AND status = 'PENDING' GROUP BY stage

-- name: ended_counts
-- Ended items of a job, by status.
SELECT status, count(*)::integer AS items FROM job_items
WHERE job_id = rows_of($1) AND status NOT IN ('PENDING', 'PROCESSING') GROUP BY status

-- name: stage_counts
-- The stored counters of a job's stages.
SELECT position, kind, pending, open FROM job_stages WHERE job_id = $1 ORDER BY position

-- name: job_counters
-- The stored counters of a job, under its lock.
SELECT id, state, paused, ingest_done, total, pending, processing, done, error, not_found, skipped, lane
FROM jobs WHERE id = $1 AND state IN ('queued', 'running', 'cancelling') FOR NO KEY UPDATE

-- name: make_ready
-- Fresh rows may lie anywhere, and an ingest or an ending without a lease can be claimed.
UPDATE job_stages st SET floor = 0, ready_at = CASE
    WHEN st.kind = 'ingest' THEN CASE WHEN j.ingest_done OR j.state = 'cancelling'
        THEN 'infinity' ELSE greatest(now(), j.due_at) END
    WHEN st.kind = 'finish' THEN CASE WHEN j.state = 'cancelling' THEN now() ELSE 'infinity' END
    WHEN j.state = 'cancelling' THEN 'infinity'
    -- While rows still come in, the ingest opens the first stage when its time has come.
    WHEN j.ingest_done THEN 'infinity'
    ELSE st.ready_at END
FROM jobs j WHERE j.id = st.job_id AND st.job_id = $1

-- name: abandoned_jobs
-- Jobs held by a bulk operation that has ended or no longer exists.
SELECT j.id, j.reopening FROM jobs j
WHERE j.reopening IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM bulk_operations b WHERE b.id = j.reopening AND b.state IN ('counting', 'running'))
ORDER BY j.id LIMIT $1
