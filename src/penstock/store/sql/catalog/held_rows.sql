-- name: held_rows
-- Rows of a job that are held back, the largest change first: a tenth of the price is as large a
-- change as ten times the price. A price that was 0 comes first.
SELECT row_no, error->>'code' AS code, error->>'message' AS message,
       error->'details'->>'field' AS field, error->'details'->>'before' AS before,
       error->'details'->>'after' AS after, error->'details'->>'currency' AS currency,
       (error->'details'->>'percent')::float8 AS percent, result->>'sku' AS sku, result->>'title' AS title
FROM job_items
WHERE job_id = rows_of($1) AND status = 'SKIPPED' AND error->>'code' = ANY ($2::text[])
ORDER BY abs(ln(greatest(1 + (error->'details'->>'percent')::float8 / 100, 0.000001))) DESC NULLS FIRST, row_no
LIMIT $3
