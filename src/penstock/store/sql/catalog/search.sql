-- name: by_gtin
-- Products with these GTINs, the first so many of each.
SELECT k.place, p.* FROM unnest($2::integer[], $3::text[]) AS k (place, name) CROSS JOIN LATERAL (
    SELECT id, source, source_id, sku, gtin, data->'identifiers'->>'mpn' AS mpn, data->>'brand' AS brand,
           data->>'title' AS title, published
    FROM products WHERE org_id = $1 AND gtin = k.name COLLATE "C" AND ($4::text IS NULL OR source = $4)
    ORDER BY source, id LIMIT $5) AS p

-- name: by_sku
-- … with these SKUs.
SELECT k.place, p.* FROM unnest($2::integer[], $3::text[]) AS k (place, name) CROSS JOIN LATERAL (
    SELECT id, source, source_id, sku, gtin, data->'identifiers'->>'mpn' AS mpn, data->>'brand' AS brand,
           data->>'title' AS title, published
    FROM products WHERE org_id = $1 AND sku = k.name COLLATE "C" AND ($4::text IS NULL OR source = $4)
    ORDER BY source, id LIMIT $5) AS p

-- name: by_maker
-- … with these part numbers of these brands.
SELECT k.place, p.* FROM unnest($2::integer[], $3::text[]) AS k (place, name) CROSS JOIN LATERAL (
    SELECT id, source, source_id, sku, gtin, data->'identifiers'->>'mpn' AS mpn, data->>'brand' AS brand,
           data->>'title' AS title, published
    FROM products WHERE org_id = $1 AND maker = k.name AND ($4::text IS NULL OR source = $4)
    ORDER BY source, id LIMIT $5) AS p

-- name: by_words
-- Products whose titles contain all of these words. OFFSET keeps the planner from reading all products
-- of an org whose number it has not counted yet.
SELECT k.place, p.* FROM unnest($2::integer[], $3::text[]) AS k (place, words) CROSS JOIN LATERAL (
    SELECT p.id, p.source, p.source_id, p.sku, p.gtin, p.data->'identifiers'->>'mpn' AS mpn,
           p.data->>'brand' AS brand, p.data->>'title' AS title, p.published
    FROM (SELECT * FROM products WHERE words @> string_to_array(k.words, ' ')
          OFFSET 0) AS p
    WHERE p.org_id = $1 AND ($4::text IS NULL OR p.source = $4) LIMIT $5) AS p

-- name: products_by_id
-- Whole products of an org, found by their ids alone.
SELECT id, source, source_id, sku, gtin, version, published, data
FROM products WHERE id = ANY ($2::uuid[]) AND org_id + 0 = $1

-- name: written_by_job
-- The next products that a job wrote, if it was not undone.
SELECT p.id, p.source, p.source_id, p.sku, p.gtin, p.version, p.published, p.data
FROM (SELECT product_id FROM product_changes
      WHERE job_id = $2 AND product_id > $3 AND org_id + 0 = $1 AND undone_at IS NULL
      ORDER BY product_id LIMIT $4) AS c
CROSS JOIN LATERAL (SELECT * FROM products WHERE id = c.product_id OFFSET 0) AS p
ORDER BY p.id
