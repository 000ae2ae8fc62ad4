-- name: job_of_phases
-- Of a job what its phase follows from.
SELECT state, config FROM jobs WHERE id = $1

-- name: open_by_stage
-- Items of a job that have not ended, by stage.
SELECT name, open FROM job_stages WHERE job_id = $1 AND kind = 'items' ORDER BY position

-- name: counted_products
-- What an import has counted of its products.
SELECT counter, value FROM group_counters WHERE job_id = $1 AND group_key = 'products'
