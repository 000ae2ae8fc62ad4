-- name: save_posting
-- The job posting of a page.
INSERT INTO postings (id, org_id, page_id, company, url, title, words, data, lineage, date_posted,
                      valid_through, job_id, row_no)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8::json, $9::json, $10, $11, $12, $13)
ON CONFLICT (org_id, page_id) DO UPDATE SET
    title = excluded.title, words = excluded.words, data = excluded.data,
    lineage = excluded.lineage, date_posted = excluded.date_posted,
    valid_through = excluded.valid_through, job_id = excluded.job_id, row_no = excluded.row_no,
    state = 'open', updated_at = now()

-- name: expire_postings
-- The pages of these postings are gone.
UPDATE postings SET state = 'expired', updated_at = now()
WHERE org_id = $1 AND page_id = ANY ($2::uuid[])

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
