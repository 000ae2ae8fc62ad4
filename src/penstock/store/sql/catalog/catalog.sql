-- name: newest_products
-- The next products of an org, changed last first: only their places in that order.
SELECT id, updated_at FROM products
WHERE org_id = $1 AND (updated_at, id) < ($2, $3) AND updated_at >= $4
ORDER BY updated_at DESC, id DESC LIMIT $5

-- name: products_by_sku
-- The next products whose SKU is no greater than a text, in that order.
SELECT id, sku AS name FROM products
WHERE org_id = $1 AND (sku, id) > ($2, $3) AND sku <= $4 ORDER BY sku, id LIMIT $5

-- name: products_by_gtin
-- The next products whose GTIN is no greater than a text, in that order.
SELECT id, gtin AS name FROM products
WHERE org_id = $1 AND (gtin, id) > ($2, $3) AND gtin <= $4 ORDER BY gtin, id LIMIT $5

-- name: products_of_job
-- The next products that this job changed.
SELECT product_id AS id FROM product_changes
WHERE job_id = $1 AND product_id > $2 AND undone_at IS NULL ORDER BY product_id LIMIT $3

-- name: listed_products
-- Of these products, in their order, those that pass all that is asked for (NULL: anything).
SELECT p.id, p.org_id, p.source, p.source_id, p.sku, p.gtin, p.published, p.version, p.job_id, p.row_no,
       p.created_at, p.updated_at, left(d.title, 1000) AS title, left(d.brand, 500) AS brand,
       left(d.category, 500) AS category, d.price, d.availability->>'status' AS stock,
       left(d.images->0->>'url', 4096) AS image, w.place::integer AS place
FROM unnest($1::uuid[]) WITH ORDINALITY AS w (id, place)
JOIN products p ON p.id = w.id
CROSS JOIN LATERAL jsonb_to_record(p.data)
    AS d (title text, brand text, category text, price jsonb, availability jsonb, images jsonb,
          identifiers jsonb)
WHERE p.org_id = $2
  AND ($3::text IS NULL OR p.source = $3)
  AND ($4::boolean IS NULL OR p.published = $4)
  AND ($5::text IS NULL OR p.sku = $5)
  AND ($6::text IS NULL OR p.gtin = $6)
  AND ($7::timestamptz IS NULL OR p.updated_at >= $7)
  AND ($8::timestamptz IS NULL OR p.updated_at < $8)
  AND ($9::text[] IS NULL OR
       (concat_ws(' ', p.sku, p.gtin, p.source_id, d.identifiers->>'mpn', d.title, d.brand, d.category)
        COLLATE "default") ILIKE ALL ($9::text[]))
  AND ($11::text IS NULL OR lower(d.brand) = lower($11))
  AND ($12::text IS NULL OR d.category = $12 OR starts_with(d.category, $12 || ' > '))
  AND ($13::boolean IS NULL OR (p.kept_fields IS NOT NULL) = $13)
  AND ($14::boolean IS NULL OR $14 = (
       EXISTS (SELECT FROM product_links l WHERE l.org_id = p.org_id AND l.source = p.source
               AND l.source_id = p.source_id AND l.state = 'accepted')
       OR EXISTS (SELECT FROM product_links l WHERE l.org_id = p.org_id AND l.other_source = p.source
                  AND l.other_source_id = p.source_id AND l.state = 'accepted')))
  AND ($15::uuid IS NULL OR EXISTS (SELECT FROM product_changes c WHERE c.job_id = $15
                                    AND c.product_id = p.id AND c.undone_at IS NULL))
ORDER BY w.place LIMIT $10

-- name: get_product
-- One product, whole, with where its values came from.
SELECT p.id, p.org_id, p.source, p.source_id, p.sku, p.gtin, p.published, p.version, p.job_id, p.row_no,
       p.created_at, p.updated_at, p.data, p.lineage, p.kept_fields, d.title, d.brand, d.category, d.price,
       d.availability->>'status' AS stock, d.images->0->>'url' AS image
FROM products p
CROSS JOIN LATERAL jsonb_to_record(p.data)
    AS d (title text, brand text, category text, price jsonb, availability jsonb, images jsonb)
WHERE p.id = $1

-- name: product_history
-- What jobs and edits did to a product, the latest first, each with the product before and after. What it was
-- after one is what the next one found, or what it is now; of one that was undone it is kept. A job that
-- the asker may not see has no name.
SELECT c.job_id, j.name AS job_name, c.row_no, c.version, c.changed_at,
       coalesce(c.undone_at, e.undone_at) AS undone_at, c.before,
       coalesce(c.after, n.before, to_jsonb(p)) AS after, e.id AS edit_id, e.undoes, u.email AS edited_by
FROM product_changes c
LEFT JOIN jobs j ON j.id = c.job_id
LEFT JOIN product_edits e ON e.id = c.job_id
LEFT JOIN users u ON u.id = e.user_id
LEFT JOIN LATERAL (
    SELECT n.before FROM product_changes n
    WHERE n.product_id = c.product_id AND n.changed_at >= c.changed_at AND c.after IS NULL
      AND (n.before->>'version')::integer = c.version
    ORDER BY n.changed_at LIMIT 1) AS n ON true
LEFT JOIN products p ON p.id = c.product_id AND p.version = c.version
WHERE c.product_id = $1 AND (c.changed_at, c.job_id) < ($2, $3)
ORDER BY c.changed_at DESC, c.job_id DESC LIMIT $4

-- name: products_in_order
-- The next products of an org (or of one of its sources) in an order that no change disturbs.
SELECT id, source, source_id FROM products
WHERE org_id = $1 AND (source, source_id) > ($2, $3) AND ($4::text IS NULL OR source <= $4)
ORDER BY source, source_id LIMIT $5

-- name: whole_products
-- Products in the order given, no more than one of them beyond $2 bytes.
SELECT id, data, published, updated_at FROM (
    SELECT p.id, p.data, p.published, p.updated_at, w.place, sum(pg_column_size(p.data))
               OVER (ORDER BY w.place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
    FROM unnest($1::uuid[]) WITH ORDINALITY AS w (id, place) JOIN products p ON p.id = w.id
) AS found
WHERE before IS NULL OR before < $2
ORDER BY place

-- name: oldest_products
-- The next products of an org, changed longest ago first.
SELECT id, updated_at FROM products
WHERE org_id = $1 AND (updated_at, id) > ($2, $3) ORDER BY updated_at, id LIMIT $4

-- name: products_by_title
-- The next products by title, those with a title.
SELECT id, title_key AS key FROM products
WHERE org_id = $1 AND (title_key, id) > ($2::text, $3)
ORDER BY title_key, id LIMIT $4

-- name: products_by_title_down
-- The same in the other direction.
SELECT id, title_key AS key FROM products
WHERE org_id = $1 AND (title_key, id) < ($2::text, $3)
ORDER BY title_key DESC, id DESC LIMIT $4

-- name: products_without_title
-- The next products without a title, which come last in both directions.
SELECT id, NULL AS key FROM products
WHERE org_id = $1 AND title_key IS NULL AND id > $2 ORDER BY title_key, id LIMIT $3

-- name: products_by_price
-- The next products by the amount of their price, in whichever currency.
SELECT id, price_key::text AS key FROM products
WHERE org_id = $1 AND (price_key, id) > ($2::text::double precision, $3)
ORDER BY price_key, id LIMIT $4

-- name: products_by_price_down
-- The same in the other direction.
SELECT id, price_key::text AS key FROM products
WHERE org_id = $1 AND (price_key, id) < ($2::text::double precision, $3)
ORDER BY price_key DESC, id DESC LIMIT $4

-- name: products_without_price
-- The next products without a price, which come last in both directions.
SELECT id, NULL AS key FROM products
WHERE org_id = $1 AND price_key IS NULL AND id > $2 ORDER BY price_key, id LIMIT $3

-- name: sources_of_org
-- The sources of an org, by name, each with its number of products, counted up to a bound. It jumps
-- from source to source along the index.
WITH RECURSIVE s AS (
    (SELECT source FROM products WHERE org_id = $1 ORDER BY source LIMIT 1)
    UNION ALL
    SELECT (SELECT p.source FROM products p WHERE p.org_id = $1 AND p.source > s.source
            ORDER BY p.source LIMIT 1)
    FROM s WHERE s.source IS NOT NULL
)
SELECT s.source, c.products FROM (SELECT source FROM s WHERE source IS NOT NULL LIMIT $2) AS s
CROSS JOIN LATERAL (
    SELECT count(*) AS products FROM (
        SELECT FROM products p WHERE p.org_id = $1 AND p.source = s.source LIMIT $3) AS counted
) AS c

-- name: filter_values
-- The values that filters can have, over these products that match the words, dates and names.
SELECT p.source, p.published, left(d.brand, 200) AS brand, left(d.category, 500) AS category
FROM unnest($1::uuid[]) AS w (id)
JOIN products p ON p.id = w.id
CROSS JOIN LATERAL jsonb_to_record(p.data) AS d (title text, brand text, category text, identifiers jsonb)
WHERE p.org_id = $2
  AND ($3::text IS NULL OR p.sku = $3)
  AND ($4::text IS NULL OR p.gtin = $4)
  AND ($5::timestamptz IS NULL OR p.updated_at >= $5)
  AND ($6::timestamptz IS NULL OR p.updated_at < $6)
  AND ($7::text[] IS NULL OR
       (concat_ws(' ', p.sku, p.gtin, p.source_id, d.identifiers->>'mpn', d.title, d.brand, d.category)
        COLLATE "default") ILIKE ALL ($7::text[]))
  AND ($8::boolean IS NULL OR (p.kept_fields IS NOT NULL) = $8)
  AND ($9::boolean IS NULL OR $9 = (
       EXISTS (SELECT FROM product_links l WHERE l.org_id = p.org_id AND l.source = p.source
               AND l.source_id = p.source_id AND l.state = 'accepted')
       OR EXISTS (SELECT FROM product_links l WHERE l.org_id = p.org_id AND l.other_source = p.source
                  AND l.other_source_id = p.source_id AND l.state = 'accepted')))
