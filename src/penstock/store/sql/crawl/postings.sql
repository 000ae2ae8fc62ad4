-- name: save_posting
-- The job posting of a page, with what it was before the job. If another job has changed it since this
-- job did, only the last change is undone.
WITH found AS MATERIALIZED (
    SELECT * FROM postings WHERE org_id = $2 AND page_id = $3 FOR UPDATE
), saved AS (
INSERT INTO postings AS p (id, org_id, page_id, company, url, title, words, data, lineage, date_posted,
                      valid_through, job_id, row_no)
SELECT $1, $2, $3, $4, $5, $6, $7, $8::json, $9::json, $10, $11, $12, $13
FROM (SELECT count(*) FROM found) AS before_this
ON CONFLICT (org_id, page_id) DO UPDATE SET
    title = excluded.title, words = excluded.words, data = excluded.data,
    lineage = excluded.lineage, date_posted = excluded.date_posted,
    valid_through = excluded.valid_through, job_id = excluded.job_id, row_no = excluded.row_no,
    state = 'open', updated_at = now(), version = p.version + 1
RETURNING p.id, p.version
)
INSERT INTO posting_changes AS c (job_id, posting_id, org_id, row_no, version, before)
SELECT $12, s.id, $2, $13, s.version, (SELECT row_to_json(f) FROM found f) FROM saved s
ON CONFLICT (job_id, posting_id) DO UPDATE SET
    row_no = excluded.row_no, version = excluded.version, undone_at = NULL,
    before = CASE WHEN c.undone_at IS NULL AND c.version = excluded.version - 1 THEN c.before
                  ELSE excluded.before END

-- name: expire_postings
-- The pages of these postings are gone.
WITH found AS MATERIALIZED (
    SELECT * FROM postings
    WHERE org_id = $1 AND page_id = ANY ($2::uuid[]) AND state <> 'expired' ORDER BY id FOR UPDATE
), expired AS (
    UPDATE postings p SET state = 'expired', updated_at = now(), version = p.version + 1
    FROM found f WHERE p.id = f.id RETURNING p.id, p.version
)
INSERT INTO posting_changes AS c (job_id, posting_id, org_id, version, before)
SELECT $3, e.id, $1, e.version, row_to_json(f) FROM expired e JOIN found f ON f.id = e.id
ON CONFLICT (job_id, posting_id) DO UPDATE SET
    version = excluded.version, undone_at = NULL,
    before = CASE WHEN c.undone_at IS NULL AND c.version = excluded.version - 1 THEN c.before
                  ELSE excluded.before END

-- name: postings_to_undo
-- The next postings a job changed, and whether it made them.
SELECT posting_id, row_no, version, before IS NULL AS made FROM posting_changes
WHERE job_id = $1 AND posting_id > $2 AND undone_at IS NULL ORDER BY posting_id LIMIT $3

-- name: lock_postings
-- Lock the current postings.
SELECT id, version FROM postings WHERE id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE

-- name: look_at_postings
-- The current versions of the postings.
SELECT id, version FROM postings WHERE id = ANY ($1::uuid[])

-- name: restore_postings
-- Each exactly as it was before the job.
UPDATE postings p SET title = b.title, words = b.words, data = b.data, lineage = b.lineage,
    state = b.state, date_posted = b.date_posted, valid_through = b.valid_through,
    version = b.version, job_id = b.job_id, row_no = b.row_no, created_at = b.created_at,
    updated_at = b.updated_at
FROM posting_changes c CROSS JOIN LATERAL json_populate_record(NULL::postings, c.before) AS b
WHERE c.job_id = $1 AND c.posting_id = ANY ($2::uuid[]) AND p.id = c.posting_id

-- name: delete_postings
-- Delete postings by their ids.
DELETE FROM postings WHERE id = ANY ($1::uuid[]) RETURNING id

-- name: mark_postings_undone
-- They are as they were before this job.
UPDATE posting_changes SET undone_at = now() WHERE job_id = $1 AND posting_id = ANY ($2::uuid[])

-- name: list_postings
-- Job postings, oldest first, with all of these words.
SELECT p.id, p.page_id, p.company, p.url, p.title, p.data, p.lineage, p.state,
       p.job_id, p.row_no, p.created_at, p.updated_at
FROM postings p
WHERE p.id > coalesce($1, '00000000-0000-0000-0000-000000000000'::uuid)
  AND ($2::text IS NULL OR p.company = $2) AND ($3::text IS NULL OR p.state = $3)
  AND p.words LIKE ALL ($4::text[]) AND ($5::uuid IS NULL OR p.job_id = $5)
ORDER BY p.id LIMIT $6

-- name: get_posting
-- One job posting.
SELECT p.id, p.page_id, p.company, p.url, p.title, p.data, p.lineage, p.state,
       p.job_id, p.row_no, p.created_at, p.updated_at
FROM postings p WHERE p.id = $1
