-- name: stages_of_job
-- The stages of a job that have started: when, and when a worker wrote of them last.
SELECT st.name, st.kind, st.started_at,
       CASE WHEN st.kind = 'finish' THEN coalesce(j.finished_at, st.moved_at) ELSE st.moved_at END AS moved_at,
       st.open > 0 OR (st.kind = 'finish' AND j.finished_at IS NULL)
           OR (st.kind = 'ingest' AND NOT j.ingest_done AND j.finished_at IS NULL) AS is_open
FROM jobs j JOIN job_stages st ON st.job_id = j.id
WHERE j.id = $1 AND st.started_at IS NOT NULL
ORDER BY st.started_at, st.position

-- name: progress_of_job
-- About $2 of the progress events of a job, in order, since it started last.
SELECT e.created_at, e.data
FROM jobs j JOIN events e ON e.job_id = j.id
WHERE j.id = $1 AND e.event = 'job.progress' AND e.seq % greatest(1, j.seq / $2) = 0
  AND e.created_at >= j.started_at
ORDER BY e.seq

-- name: end_of_job
-- When a job started and ended, and its finished rows.
SELECT started_at, finished_at, total - pending - processing AS rows FROM jobs WHERE id = $1
