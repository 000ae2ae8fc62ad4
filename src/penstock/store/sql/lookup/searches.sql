-- name: add_searches
-- Record searches, each with the generation that its item has now.
INSERT INTO search_events (org_id, job_id, row_no, generation, attempt, provider, variant, query, outcome,
                           score, candidates, latency_ms, error, answer)
SELECT $1, $2, n.row_no, i.generation, n.attempt, n.provider, n.variant, n.query, n.outcome,
       n.score, n.candidates, n.latency_ms, n.error::jsonb, n.answer::jsonb
FROM unnest($3::integer[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::real[],
            $10::integer[], $11::real[], $12::text[], $13::text[]) WITH ORDINALITY
    AS n (row_no, attempt, provider, variant, query, outcome, score, candidates, latency_ms, error, answer, place)
CROSS JOIN LATERAL (
    SELECT generation FROM job_items WHERE job_id = $2 AND row_no = n.row_no LIMIT 1) AS i
ORDER BY n.place

-- name: searches_of_rows
-- What was searched for items since they were last reopened.
SELECT s.row_no, s.attempt, s.provider, s.variant, s.outcome, s.answer
FROM unnest($2::integer[]) AS r (row_no)
CROSS JOIN LATERAL (
    SELECT generation FROM job_items WHERE job_id = $1 AND row_no = r.row_no LIMIT 1) AS i
CROSS JOIN LATERAL (
    SELECT * FROM search_events
    WHERE job_id = $1 AND row_no = r.row_no AND generation = i.generation ORDER BY id LIMIT 1000) AS s
ORDER BY s.id

-- name: searches_of_item
-- The searches of one item, oldest first.
SELECT id, attempt, provider, variant, query, outcome, score, candidates, latency_ms, error, created_at
FROM search_events WHERE job_id = $1 AND row_no = $2 AND id > $3 ORDER BY id LIMIT $4
