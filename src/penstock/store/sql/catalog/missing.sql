-- name: forget_missing
-- A job looks again for products that its file lacks.
DELETE FROM job_missing WHERE job_id = $1

-- name: page_of_source
-- The next products of a source, and which of them no row of the job named. One that is off the shelf
-- already is not missed, unless this very job took it off. SKUs and GTINs sort otherwise than keys do:
-- without the collation no index of keys would serve, and each product would look through all of them.
SELECT p.source_id, p.published, NOT EXISTS (
        SELECT 1 FROM job_keys k WHERE k.job_id = $1 AND k.key = ANY (ARRAY[
            left('seen:id:' || p.source_id, $6), left('seen:sku:' || p.sku, $6),
            left('seen:gtin:' || p.gtin, $6)] COLLATE "default"))
    AND (p.published OR EXISTS (
        SELECT 1 FROM product_changes c
        WHERE c.job_id = $1 AND c.product_id = p.id AND c.undone_at IS NULL)) AS absent
FROM products p WHERE p.org_id = $2 AND p.source = $3 AND p.source_id > $4
ORDER BY p.source_id LIMIT $5

-- name: lock_absent
-- Lock published products in the order of their ids.
SELECT p.id FROM products p
WHERE p.org_id = $1 AND p.source = $2 AND p.source_id = ANY ($3::text[]) AND p.published
ORDER BY p.source_id FOR UPDATE

-- name: unpublish
-- Off the shelf, and nothing else: values keep the rows they are from. The version is that of the
-- before-image.
UPDATE products p SET published = false, updated_at = now(), version = c.version
FROM unnest($2::uuid[]) AS n (id) JOIN product_changes c ON c.job_id = $1 AND c.product_id = n.id
WHERE p.id = n.id

-- name: note_missing
-- Record the missing products of the job.
INSERT INTO job_missing (job_id, source_id, org_id, product_id, sku, gtin, title, unpublished)
SELECT $1, p.source_id, p.org_id, p.id, p.sku, p.data #>> '{identifiers,gtin}', p.data->>'title',
       NOT p.published
FROM products p WHERE p.org_id = $2 AND p.source = $3 AND p.source_id = ANY ($4::text[])
ON CONFLICT (job_id, source_id) DO NOTHING

-- name: count_missing
-- How many there are, and how many of them are off the shelf; for the summary alone.
SELECT count(*) AS missing, count(*) FILTER (WHERE unpublished) AS unpublished
FROM job_missing WHERE job_id = $1

-- name: list_missing
-- A page of them.
SELECT source_id, product_id, sku, gtin, title, unpublished FROM job_missing
WHERE job_id = $1 AND source_id > $2 ORDER BY source_id LIMIT $3

-- name: unnamed_rows
-- Rows of a range that do not say which product they are, so that it may be any of those missing.
SELECT count(*) FROM job_items i WHERE i.job_id = $1 AND i.row_no > $2 AND i.row_no <= $3
  AND NOT EXISTS (SELECT 1 FROM job_keys k WHERE k.job_id = $1 AND k.row_no = i.row_no
                  AND k.key LIKE 'seen:%')
