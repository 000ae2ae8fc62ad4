-- name: held_rows
-- Rows of a job that are held back, the largest change first: a tenth of the price is as large a
-- change as ten times the price. A price that was 0 comes first. Of a check ($4), the rows that an
-- import would hold back.
WITH held AS (
    SELECT row_no, error->>'code' AS code, error->>'message' AS message, (error->'details')::jsonb AS told, result
    FROM job_items
    WHERE job_id = rows_of($1) AND status = 'SKIPPED' AND error->>'code' = ANY ($2::text[])
    UNION ALL
    SELECT row_no, normalized->'match'->'held'->>'code', normalized->'match'->'held'->>'message',
           (normalized->'match'->'held')::jsonb, result
    FROM job_items
    WHERE $4::boolean AND job_id = rows_of($1) AND status = 'DONE' AND result->>'match' = 'held'
)
SELECT row_no, code, message, told->>'field' AS field, told->>'before' AS before, told->>'after' AS after,
       told->>'currency' AS currency, (told->>'percent')::float8 AS percent,
       result->>'sku' AS sku, result->>'title' AS title
FROM held
ORDER BY abs(ln(greatest(1 + (told->>'percent')::float8 / 100, 0.000001))) DESC NULLS FIRST, row_no
LIMIT $3
