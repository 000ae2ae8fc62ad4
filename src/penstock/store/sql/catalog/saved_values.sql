-- name: of_source
-- What words in files of a source mean.
SELECT field, word, value FROM saved_values WHERE org_id = $1 AND source = $2
ORDER BY field, word

-- name: list_values
-- Saved words of an org, by source, field and word, after a place.
SELECT source, field, word, value, created_at FROM saved_values
WHERE org_id = $1 AND ($2::text IS NULL OR source = $2)
  AND (source, field, word) > ($3::text, $4::text, $5::text)
ORDER BY source, field, word LIMIT $6

-- name: count_of_source
-- How many words a source has.
SELECT count(*) FROM saved_values WHERE org_id = $1 AND source = $2

-- name: set_value
-- What a word means from now on; answers what it meant before.
WITH before AS (
    SELECT value FROM saved_values
    WHERE org_id = $1 AND source = $2 AND field = $3 AND word = $4
), written AS (
    INSERT INTO saved_values (org_id, source, field, word, value, user_id)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (org_id, source, field, word)
    DO UPDATE SET value = excluded.value, user_id = excluded.user_id, created_at = now()
)
SELECT value FROM before

-- name: delete_value
-- Forget a word; answers what it meant.
DELETE FROM saved_values WHERE org_id = $1 AND source = $2 AND field = $3 AND word = $4
RETURNING value

-- name: unread_values
-- Values of rows of a job that could not be read, by column and field, the most frequent first. The
-- first rows with problems are counted.
SELECT p ->> 'column' AS "column", p ->> 'target' AS field, p ->> 'value' AS value,
       p ->> 'code' AS code, count(*) AS rows, min(row_no) AS first_row
FROM (
    SELECT row_no, problems FROM job_items
    WHERE job_id = rows_of($1) AND problems <> '[]' ORDER BY row_no LIMIT $2
) AS i, jsonb_array_elements(i.problems) AS p
WHERE p ->> 'target' IS NOT NULL AND length(p ->> 'value') BETWEEN 1 AND 200
  AND p ->> 'code' = ANY ($3::text[])
GROUP BY 1, 2, 3, 4 HAVING count(*) >= $4
ORDER BY 5 DESC, 1, 3 LIMIT $5
