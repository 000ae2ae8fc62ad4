-- name: add_counts
-- Add to counters of groups, in the order given.
INSERT INTO group_counters AS g (job_id, org_id, group_key, counter, value)
SELECT $1, $2, n.group_key, n.counter, n.value
FROM unnest($3::text[], $4::text[], $5::bigint[]) AS n (group_key, counter, value)
ON CONFLICT (job_id, group_key, counter) DO UPDATE SET value = g.value + excluded.value

-- name: counts_of_job
-- The counters of a job's groups, by name, some at a time.
SELECT group_key, counter, value FROM group_counters
WHERE job_id = $1 AND group_key > $2 ORDER BY group_key, counter LIMIT $3
