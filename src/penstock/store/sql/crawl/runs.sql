-- name: counts_by_company
-- Items of a run by company, stage and status, sitemaps apart.
SELECT i.group_key AS company, i.stage, i.status, i.key LIKE 'sitemap:%' AS is_sitemap,
       count(*) AS items, count(*) FILTER (WHERE i.error->>'code' = 'COMPANY_STOPPED') AS stopped
FROM job_items i WHERE i.job_id = $1 AND i.group_key IS NOT NULL GROUP BY 1, 2, 3, 4

-- name: open_in_stage
-- Items of these jobs that have not ended, in one stage.
SELECT job_id, open FROM job_stages WHERE job_id = ANY ($1::uuid[]) AND name = $2

-- name: state_of_page
-- A page of a run, and the run.
SELECT j.state, j.user_id, j.ingest_done, j.lane, i.stage, i.status
FROM jobs j LEFT JOIN job_items i ON i.job_id = j.id AND i.key = $2
WHERE j.id = $1 AND j.pipeline = 'crawl'
