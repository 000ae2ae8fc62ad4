-- name: rows_by_value
-- The next rows of a job by the value of a cell: numbers, then texts, empty cells last; with $14 from the
-- last text to the first number, and empty cells still last. The cell is named by its place or name in the
-- input ($3), else by its name in the result. Of rare statuses ($2) an index is walked; otherwise all rows
-- of the job are read, so the caller bounds their number. OFFSET keeps the planner from parsing a document
-- again wherever its cell is named.
SELECT row_no, rank, number::text AS number_text, text FROM (
    SELECT row_no, CASE WHEN text = '' THEN 2 WHEN is_number = $14 THEN 1 ELSE 0 END AS rank,
           CASE WHEN is_number THEN replace(text, ',', '.')::numeric ELSE 0 END
               * CASE WHEN $14 THEN -1 ELSE 1 END AS number,
           CASE WHEN is_number THEN '' ELSE lower(text) END COLLATE "C" AS text
    FROM (
        SELECT row_no, text, text ~ '^-?[0-9]{1,20}([.,][0-9]{1,10})?$' AS is_number FROM (
            SELECT row_no, btrim(left(coalesce(
                CASE WHEN $3 THEN input #>> ARRAY[$4::text] ELSE result ->> $4 END, ''), 50)) AS text
            FROM (
                SELECT * FROM job_items WHERE $2 AND job_id = rows_of($1) AND status = ANY ($5)
                    AND status IN ('ERROR', 'NOT_FOUND', 'SKIPPED')
                UNION ALL
                SELECT * FROM job_items WHERE NOT $2 AND job_id = rows_of($1)
                    AND CASE WHEN $5::text[] IS NULL OR status = ANY ($5) THEN true END
            ) AS i
            WHERE i.row_no >= $6
              AND ($7::text IS NULL OR i.error->>'code' = $7)
              AND ($8::text IS NULL OR position($8 IN lower(i.input::text)) > 0
                   OR position($8 IN lower(i.result::text)) > 0)
              AND CASE WHEN $9::text IS NULL THEN true
                       WHEN $9 = '*' THEN i.problems <> '[]'
                       ELSE i.problems @> jsonb_build_array(jsonb_build_object('code', $9)) END
            OFFSET 0
        ) AS cell OFFSET 0
    ) AS typed OFFSET 0
) AS keyed
WHERE $10::integer IS NULL OR rank > $10 OR (rank = $10 AND (number > $11::text::numeric
    OR (number = $11::text::numeric AND (CASE WHEN $14 THEN text < $12 ELSE text > $12 END
        OR (text = $12 AND row_no > $13)))))
ORDER BY rank, number, CASE WHEN NOT $14 THEN text END, CASE WHEN $14 THEN text END DESC, row_no LIMIT $15

-- name: distribution
-- The values of a column in stretches of rows: how many are empty, different, numbers, and the most
-- frequent ones.
WITH cells AS MATERIALIZED (
    SELECT text, text ~ '^-?[0-9]{1,20}([.,][0-9]{1,10})?$' AS is_number FROM (
        SELECT btrim(left(coalesce(
            CASE WHEN $4 THEN input #>> ARRAY[$5::text] ELSE result ->> $5 END, ''), $6)) AS text
        FROM unnest($2::integer[]) AS s (first)
        CROSS JOIN LATERAL (
            SELECT input, result FROM job_items
            WHERE job_id = rows_of($1) AND row_no >= s.first AND row_no < s.first + $3
        ) AS i
        OFFSET 0
    ) AS cell
), counted AS MATERIALIZED (
    SELECT text, is_number, count(*) AS rows FROM cells WHERE text <> '' GROUP BY text, is_number
), numbers AS (
    SELECT replace(text, ',', '.')::numeric AS number, rows FROM counted WHERE is_number
)
SELECT (SELECT count(*) FROM cells) AS rows, (SELECT count(*) FROM cells WHERE text = '') AS empty,
       (SELECT count(*) FROM counted) AS distinct,
       coalesce((SELECT sum(rows) FROM numbers), 0)::integer AS numbers,
       (SELECT min(number) FROM numbers)::text AS least, (SELECT max(number) FROM numbers)::text AS most,
       ARRAY(SELECT text FROM counted ORDER BY rows DESC, text COLLATE "C" LIMIT $7) AS values,
       ARRAY(SELECT rows FROM counted ORDER BY rows DESC, text COLLATE "C" LIMIT $7) AS counts
