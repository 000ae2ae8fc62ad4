-- name: table_of_job
-- Of a job what its items are shown by; of a file, also which lines its rows are.
SELECT pipeline, config, header, total, context->'reading'->'lines' AS lines FROM jobs WHERE id = $1
