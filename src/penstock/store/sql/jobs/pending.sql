-- name: open_rows
-- Open rows of many jobs, longest untouched first, without an index over all of them: of each live
-- job the first row after the place; of the jobs that come first in this the rows up to where the
-- last of them begins, since no other job can have an earlier one.
WITH heads AS MATERIALIZED (
    SELECT j.id AS job_id, h.updated_at
    FROM jobs j CROSS JOIN LATERAL (
        SELECT i.updated_at FROM job_items i
        WHERE i.job_id = j.id AND i.status IN ('PENDING', 'PROCESSING') AND i.status = ANY ($4::text[])
          AND (i.updated_at, i.row_no) > ($1, CASE WHEN j.id > $2 THEN 0 WHEN j.id = $2 THEN $3
                                                   ELSE 2147483647 END)
          AND i.updated_at < $8
        ORDER BY i.updated_at, i.row_no LIMIT 1
    ) AS h
    WHERE j.state IN ('queued', 'running', 'cancelling') AND j.pending + j.processing > 0
      AND ($5::bigint IS NULL OR j.user_id = $5) AND ($6::text IS NULL OR j.pipeline = $6)
      AND ($7::uuid IS NULL OR j.id = $7)
    ORDER BY h.updated_at, j.id LIMIT $9
), bound AS MATERIALIZED (
    SELECT coalesce((SELECT updated_at FROM heads ORDER BY updated_at, job_id OFFSET $9 - 1 LIMIT 1),
                    $8) AS updated_at
)
SELECT i.job_id, i.row_no, i.updated_at
FROM heads h CROSS JOIN bound b CROSS JOIN LATERAL (
    SELECT i.job_id, i.row_no, i.updated_at FROM job_items i
    WHERE i.job_id = h.job_id AND i.status IN ('PENDING', 'PROCESSING') AND i.status = ANY ($4)
      AND (i.updated_at, i.row_no) > ($1, CASE WHEN h.job_id > $2 THEN 0 WHEN h.job_id = $2 THEN $3
                                               ELSE 2147483647 END)
      AND i.updated_at < $8 AND i.updated_at <= b.updated_at
    ORDER BY i.updated_at, i.row_no LIMIT $9
) AS i
ORDER BY i.updated_at, i.job_id, i.row_no LIMIT $9

-- name: search_open
-- Of the next so many open rows of a job, longest untouched first: those whose labels ($7) contain a
-- text, or whose number it is; and the last row that was looked at. Inputs do not leave the database.
WITH named AS MATERIALIZED (
    SELECT coalesce((SELECT jsonb_object_agg(lower(c.name), c.n - 1)
                     FROM jsonb_array_elements_text(j.header) WITH ORDINALITY AS c (name, n)
                     WHERE lower(c.name) = ANY ($7::text[])), '{}') || j.labels AS cells
    FROM jobs j WHERE j.id = $1
), walked AS MATERIALIZED (
    SELECT i.row_no, i.updated_at FROM job_items i
    WHERE i.job_id = $1 AND i.status IN ('PENDING', 'PROCESSING') AND i.status = ANY ($2::text[])
      AND (i.updated_at, i.row_no) > ($3, $4)
    ORDER BY i.updated_at, i.row_no LIMIT $5
)
SELECT w.row_no, w.updated_at, w.fits
FROM (SELECT w.row_no, w.updated_at, row_number() OVER (ORDER BY w.updated_at DESC, w.row_no DESC) AS last,
             w.row_no::text = $6 OR EXISTS (
                 SELECT FROM unnest($7::text[]) AS l (name)
                 WHERE strpos(lower(CASE jsonb_typeof(i.input)
                                    WHEN 'array' THEN i.input->>((n.cells->>l.name)::integer)
                                    ELSE i.input->>l.name END), lower($6)) > 0) AS fits
      FROM walked w JOIN job_items i ON i.job_id = $1 AND i.row_no = w.row_no CROSS JOIN named n) AS w
WHERE w.fits OR w.last = 1
ORDER BY w.updated_at, w.row_no

-- name: running_rows
-- Running rows, which are few: found by their slices.
SELECT i.job_id, i.row_no, i.updated_at
FROM slices s
JOIN jobs j ON j.id = s.job_id
CROSS JOIN LATERAL unnest(s.row_nos) AS held (row_no)
JOIN job_items i ON i.job_id = s.job_id AND i.row_no = held.row_no AND i.slice_id = s.id
WHERE s.kind = 'items' AND (i.updated_at, i.job_id, i.row_no) > ($1, $2, $3)
  AND ($4::bigint IS NULL OR j.user_id = $4) AND ($5::text IS NULL OR j.pipeline = $5)
  AND ($6::uuid IS NULL OR j.id = $6) AND i.updated_at < $7
ORDER BY i.updated_at, i.job_id, i.row_no LIMIT $8

-- name: pending_rows
-- What a list of open rows shows of each: of its input only some labels ($4), found where the job says
-- they are, or by the names of its columns. Whole inputs never leave the database.
WITH wanted AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::integer[]) WITH ORDINALITY AS w (job_id, row_no, place)
), named AS MATERIALIZED (
    SELECT d.job_id,
           coalesce((SELECT jsonb_object_agg(lower(c.name), c.n - 1)
                     FROM jsonb_array_elements_text(j.header) WITH ORDINALITY AS c (name, n)
                     WHERE lower(c.name) = ANY ($4::text[])), '{}') || j.labels AS cells
    FROM (SELECT DISTINCT job_id FROM wanted) AS d JOIN jobs j ON j.id = d.job_id
)
SELECT i.job_id, i.row_no, i.status, i.stage, i.attempts, i.job_type, i.updated_at, i.due_at,
       i.error->>'code' AS code, s.worker AS locked_by, s.claimed_at AS locked_at,
       (SELECT jsonb_object_agg(l.name, left(CASE jsonb_typeof(i.input)
                   WHEN 'array' THEN i.input->>((n.cells->>l.name)::integer)
                   ELSE i.input->>l.name END, 200))
        FROM unnest($4::text[]) AS l (name)) AS labels,
       j.name AS job_name, j.user_id, j.percent, j.total, j.pending, j.processing, j.state, j.paused,
       coalesce(j.due_at > now(), false) AS delayed, o.name AS org
FROM wanted w
JOIN job_items i ON i.job_id = w.job_id AND i.row_no = w.row_no
JOIN named n ON n.job_id = w.job_id
JOIN jobs j ON j.id = w.job_id
JOIN orgs o ON o.id = j.org_id
LEFT JOIN slices s ON s.id = i.slice_id
WHERE i.status = ANY ($3::text[])
ORDER BY w.place

-- name: open_counts
-- Numbers of open rows, from the counters of jobs.
SELECT coalesce(sum(pending), 0) AS pending, coalesce(sum(processing), 0) AS processing
FROM jobs j
WHERE j.state IN ('queued', 'running', 'cancelling') AND j.pending + j.processing > 0
  AND ($1::bigint IS NULL OR j.user_id = $1) AND ($2::text IS NULL OR j.pipeline = $2)
  AND ($3::uuid IS NULL OR j.id = $3)

-- name: oldest_rows
-- The jobs whose rows have waited longest, each with the time of its oldest.
SELECT j.id, j.name, j.pipeline, h.updated_at,
       greatest(0, extract(epoch FROM now() - h.updated_at) * 1000)::bigint AS age_ms
FROM jobs j CROSS JOIN LATERAL (
    SELECT i.updated_at FROM job_items i
    WHERE i.job_id = j.id AND i.status IN ('PENDING', 'PROCESSING')
    ORDER BY i.updated_at, i.row_no LIMIT 1
) AS h
WHERE j.state IN ('queued', 'running', 'cancelling') AND j.pending + j.processing > 0
  AND ($1::bigint IS NULL OR j.user_id = $1) AND ($2::text IS NULL OR j.pipeline = $2)
  AND ($3::uuid IS NULL OR j.id = $3)
ORDER BY h.updated_at, j.id LIMIT $4

-- name: waiting_jobs
-- Some live jobs with rows that wait for a due time, changed in a span of time.
SELECT j.id FROM jobs j
WHERE j.state IN ('queued', 'running') AND j.pending > 0
  AND ($1::bigint IS NULL OR j.user_id = $1) AND ($2::text IS NULL OR j.pipeline = $2)
  AND ($3::uuid IS NULL OR j.id = $3)
  AND EXISTS (
      SELECT 1 FROM job_stages st CROSS JOIN LATERAL (
          (SELECT 1 FROM job_items i
           WHERE i.job_id = st.job_id AND i.stage = st.position AND i.status = 'PENDING'
             AND i.due_at IS NOT NULL AND i.group_key IS NULL AND i.due_at > now()
             AND i.updated_at >= $4 AND i.updated_at < $5 LIMIT 1)
          UNION ALL
          (SELECT 1 FROM job_items i
           WHERE i.job_id = st.job_id AND i.stage = st.position AND i.status = 'PENDING'
             AND i.group_key IS NOT NULL AND i.due_at > now()
             AND i.updated_at >= $4 AND i.updated_at < $5 LIMIT 1)
      ) AS waiting
      WHERE st.job_id = j.id AND st.kind = 'items')
ORDER BY j.id LIMIT $6

-- name: waiting_rows
-- Some rows of a job that wait for a due time, changed in a span of time.
SELECT w.row_no FROM job_stages st CROSS JOIN LATERAL (
    (SELECT i.row_no FROM job_items i
     WHERE i.job_id = st.job_id AND i.stage = st.position AND i.status = 'PENDING'
       AND i.due_at IS NOT NULL AND i.group_key IS NULL AND i.due_at > now()
       AND i.updated_at >= $2 AND i.updated_at < $3
     ORDER BY i.due_at, i.row_no LIMIT $4)
    UNION ALL
    (SELECT i.row_no FROM job_items i
     WHERE i.job_id = st.job_id AND i.stage = st.position AND i.status = 'PENDING'
       AND i.group_key IS NOT NULL AND i.due_at > now()
       AND i.updated_at >= $2 AND i.updated_at < $3
     LIMIT $4)
) AS w
WHERE st.job_id = $1 AND st.kind = 'items' LIMIT $4

-- name: make_due
-- Under the claim lock: these rows are due now; answers the stages in which they are. CASE hides the
-- status from the planner, which would else walk all open rows instead of these.
WITH due AS (
    UPDATE job_items i SET due_at = now(), updated_at = now()
    FROM unnest($2::integer[]) AS r (row_no), jobs j
    WHERE i.job_id = $1 AND i.row_no = r.row_no
      AND CASE WHEN i.status = 'PENDING' AND i.due_at > now() THEN true END
      AND j.id = $1 AND j.state IN ('queued', 'running')
    RETURNING i.stage
)
SELECT stage, count(*) AS rows FROM due GROUP BY stage
