-- name: files_after
-- The next files that are old enough to be deleted, oldest first, and whether a job or a
-- dead letter has them. LIMIT, where EXISTS would do: PostgreSQL would read all jobs for one page.
SELECT f.id, f.created_at,
       coalesce((SELECT true FROM jobs j WHERE j.file_id = f.id LIMIT 1),
                (SELECT true FROM job_files m WHERE m.file_id = f.id LIMIT 1),
                (SELECT true FROM dead_letters d WHERE d.file_id = f.id LIMIT 1), false) AS used
FROM files f
WHERE (f.created_at, f.id) > ($1, $2) AND f.created_at < now() - $3 * interval '1 hour'
ORDER BY f.created_at, f.id LIMIT $4

-- name: lock_files
-- Lock files; a file that another transaction has locked is being assigned to a job.
SELECT id FROM files WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE SKIP LOCKED

-- name: drop_files
-- Uploads that no job uses, under their locks; answers the blobs they were kept in.
WITH gone AS (
    DELETE FROM files f WHERE f.id = ANY ($1::uuid[])
      AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.file_id = f.id)
      AND NOT EXISTS (SELECT 1 FROM job_files m WHERE m.file_id = f.id)
      AND NOT EXISTS (SELECT 1 FROM dead_letters d WHERE d.file_id = f.id)
    RETURNING f.blob_key, f.org_id, f.size
), freed AS (
    UPDATE org_usage u SET file_bytes = greatest(0, u.file_bytes - g.size)
    FROM (SELECT org_id, sum(size) AS size FROM gone GROUP BY org_id) AS g WHERE u.org_id = g.org_id
)
SELECT blob_key FROM gone

-- name: unreferenced_blobs
-- Which of these blobs have no reference.
SELECT k.key FROM unnest($1::text[]) AS k (key)
WHERE NOT EXISTS (SELECT 1 FROM files f WHERE f.blob_key = k.key)
  AND NOT EXISTS (SELECT 1 FROM blob_refs r WHERE r.blob_key = k.key)

-- name: installation_id
-- The id of this installation, for what it keeps outside the database.
SELECT id FROM installation

-- name: signing_key
-- The key with which every process of the installation signs page cursors.
SELECT signing_key FROM installation
