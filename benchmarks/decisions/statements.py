"""The hot statements as they were when the decisions were taken, so that these can be repeated
whatever becomes of the statements themselves. Each item travels as one element of each array."""

from __future__ import annotations

PICK = """
SELECT w.job_id, c.row_no, c.crashes, c.fresh
FROM unnest($1::uuid[], $2::smallint[], $3::integer[], $4::integer[])
    AS w (job_id, stage, floor, size)
CROSS JOIN LATERAL (
    (SELECT i.row_no, i.crashes, false AS fresh FROM job_items i
     WHERE i.job_id = w.job_id AND i.stage = w.stage AND i.status = 'PENDING'
       AND i.due_at IS NOT NULL AND i.group_key IS NULL AND i.due_at <= now()
     ORDER BY i.due_at, i.row_no LIMIT w.size)
    UNION ALL
    (SELECT i.row_no, i.crashes, true FROM job_items i
     WHERE i.job_id = w.job_id AND i.stage = w.stage AND i.status = 'PENDING'
       AND i.due_at IS NULL AND i.group_key IS NULL AND i.row_no >= w.floor
     ORDER BY i.row_no LIMIT w.size)
) AS c
"""

MARK = """
UPDATE job_items i SET status = 'PROCESSING', slice_id = t.slice_id, updated_at = now()
FROM unnest($1::uuid[], $2::integer[], $3::uuid[]) AS t (job_id, row_no, slice_id)
WHERE i.job_id = t.job_id AND i.row_no = t.row_no AND CASE WHEN i.status = 'PENDING' THEN true END
"""

LOAD = """
SELECT i.slice_id, i.job_id, i.row_no, i.input, i.normalized, i.attempts, i.generation, i.key,
       i.group_key
FROM unnest($1::uuid[], $2::integer[], $3::uuid[]) AS t (job_id, row_no, slice_id)
JOIN job_items i ON i.job_id = t.job_id AND i.row_no = t.row_no AND i.slice_id = t.slice_id
ORDER BY i.job_id, i.row_no
"""

SETTLE = """
UPDATE job_items i SET
    status = o.status, stage = o.stage, attempts = o.attempts, slice_id = NULL,
    due_at = CASE WHEN o.delay_ms >= 0 THEN now() + o.delay_ms * interval '1 millisecond' END,
    crashes = 0, solo_crashes = 0,
    normalized = coalesce(o.normalized::jsonb, i.normalized),
    result = coalesce(o.result::jsonb, i.result),
    error = o.error::jsonb, updated_at = now()
FROM unnest($1::uuid[], $2::integer[], $3::uuid[], $4::integer[], $5::text[], $6::smallint[],
            $7::smallint[], $8::double precision[], $9::text[], $10::text[], $11::text[])
    AS o (job_id, row_no, slice_id, generation, status, stage, attempts, delay_ms, normalized,
          result, error)
WHERE i.job_id = o.job_id AND i.row_no = o.row_no AND i.slice_id = o.slice_id
  AND i.generation = o.generation
"""
