-- name: decided_with
-- The products with which links to these products were accepted or refused.
SELECT k.source, k.source_id, l.with_source, l.with_source_id
FROM unnest($2::text[], $3::text[]) AS k (source, source_id)
CROSS JOIN LATERAL (
    SELECT other_source AS with_source, other_source_id AS with_source_id FROM product_links
    WHERE org_id = $1 AND source = k.source AND source_id = k.source_id AND state <> 'undone'
    UNION ALL
    SELECT source, source_id FROM product_links
    WHERE org_id = $1 AND other_source = k.source AND other_source_id = k.source_id AND state <> 'undone'
) AS l

-- name: states_of
-- The state of each pair that was decided.
SELECT id, state FROM product_links WHERE id = ANY ($1::uuid[]) AND org_id = $2

-- name: decide
-- Decide pairs, of which those that change are answered. In the order of ids, as every request locks
-- them. A pair without a decision is not undone.
INSERT INTO product_links (id, org_id, source, source_id, other_source, other_source_id, state, by, user_id)
SELECT n.id, $1, n.source, n.source_id, n.other_source, n.other_source_id, $2, n.by, $3
FROM unnest($4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
    AS n (id, source, source_id, other_source, other_source_id, by)
WHERE $2 <> 'undone' OR EXISTS (SELECT FROM product_links l WHERE l.id = n.id)
ORDER BY n.id
ON CONFLICT (id) DO UPDATE SET state = excluded.state, by = excluded.by, user_id = excluded.user_id,
    decided_at = now()
WHERE product_links.state <> excluded.state
RETURNING id

-- name: decided_page
-- Decided pairs of an org, the latest decision first, each with its products if they are there.
SELECT l.id, l.state, l.by, l.decided_at, u.email AS decided_by,
       l.source, l.source_id, p.id AS product_id, p.sku, p.published, left(p.data->>'title', 300) AS title,
       p.data->'price' AS price, p.data->'availability'->>'status' AS stock,
       l.other_source, l.other_source_id, o.id AS other_id, o.sku AS other_sku, o.published AS other_published,
       left(o.data->>'title', 300) AS other_title, o.data->'price' AS other_price,
       o.data->'availability'->>'status' AS other_stock
FROM (
    SELECT * FROM product_links
    WHERE org_id = $1 AND (decided_at, id) < ($2, $3) AND state = ANY ($4::text[])
      AND ($5::text IS NULL OR source = $5 OR other_source = $5)
    ORDER BY decided_at DESC, id DESC LIMIT $6
) AS l
LEFT JOIN users u ON u.id = l.user_id
LEFT JOIN products p ON p.org_id = $1 AND p.source = l.source AND p.source_id = l.source_id
LEFT JOIN products o ON o.org_id = $1 AND o.source = l.other_source AND o.source_id = l.other_source_id
ORDER BY l.decided_at DESC, l.id DESC

-- name: decided_of_product
-- Decided pairs of one product, each with the other product, which is there.
SELECT l.id, l.state, l.by, l.decided_at, u.email AS decided_by,
       o.source AS other_source, o.source_id AS other_source_id, o.id AS other_id, o.sku AS other_sku,
       o.published AS other_published, left(o.data->>'title', 300) AS other_title,
       o.data->'price' AS other_price, o.data->'availability'->>'status' AS other_stock
FROM products p
CROSS JOIN LATERAL (
    SELECT id, state, by, decided_at, user_id, other_source AS name, other_source_id AS name_id
    FROM product_links
    WHERE org_id = p.org_id AND source = p.source AND source_id = p.source_id AND state <> 'undone'
    UNION ALL
    SELECT id, state, by, decided_at, user_id, source, source_id FROM product_links
    WHERE org_id = p.org_id AND other_source = p.source AND other_source_id = p.source_id
      AND state <> 'undone'
) AS l
JOIN products o ON o.org_id = p.org_id AND o.source = l.name AND o.source_id = l.name_id
LEFT JOIN users u ON u.id = l.user_id
WHERE p.id = $1
ORDER BY l.state, l.decided_at DESC, l.id LIMIT $2

-- name: products_to_link
-- What links are decided by.
SELECT id, org_id, source, source_id, gtin, maker
FROM products WHERE id = ANY ($1::uuid[])

-- name: products_named
-- … of products by the names that their suppliers give them.
SELECT p.id, p.org_id, p.source, p.source_id, p.gtin, p.maker
FROM unnest($2::text[], $3::text[]) AS n (source, source_id)
JOIN products p ON p.org_id = $1 AND p.source = n.source AND p.source_id = n.source_id

-- name: proposed_in_rows
-- The proposed links of some rows of a job, with both products as they are now. The product of a row is
-- the one it was matched with, the one it made, or with $6 the one that an import would make.
SELECT r.row_no, l.by, p.id AS product_id, coalesce(p.source, r.source) AS source,
       coalesce(p.source_id, r.source_id) AS source_id, coalesce(p.sku, r.product->'identifiers'->>'sku') AS sku,
       p.published, left(coalesce(p.data->>'title', r.product->>'title'), 300) AS title,
       coalesce(p.data->'price', (r.product->'price')::jsonb) AS price,
       coalesce(p.data->'availability'->>'status', r.product->'availability'->>'status') AS stock,
       o.id AS other_id, o.source AS other_source, o.source_id AS other_source_id, o.sku AS other_sku,
       o.published AS other_published, left(o.data->>'title', 300) AS other_title,
       o.data->'price' AS other_price, o.data->'availability'->>'status' AS other_stock
FROM (
    SELECT row_no, status, normalized->'match'->'links' AS links,
           (normalized->'match'->>'productId')::uuid AS matched, normalized->'product' AS product,
           normalized->'product'->>'source' AS source, normalized->'product'->>'sourceId' AS source_id
    FROM job_items
    WHERE job_id = rows_of($1) AND row_no > $2 AND row_no <= $3 AND strpos(result::text, '"links"') > 0
      AND json_typeof(normalized->'match'->'links') = 'array' OFFSET 0
) AS r
CROSS JOIN LATERAL json_to_recordset(r.links) AS l (source text, "sourceId" text, by text)
LEFT JOIN LATERAL (
    SELECT p.* FROM products p WHERE p.id = r.matched AND p.org_id = $4
    UNION ALL
    SELECT p.* FROM products p
    WHERE r.matched IS NULL AND p.org_id = $4 AND p.source = r.source AND p.source_id = r.source_id
) AS p ON true
JOIN products o ON o.org_id = $4 AND o.source = l.source AND o.source_id = l."sourceId"
WHERE (p.id IS NOT NULL OR ($6 AND r.status = 'DONE' AND r.matched IS NULL AND r.source_id IS NOT NULL))
  AND o.source <> coalesce(p.source, r.source) AND ($5::text IS NULL OR l.by = $5)
ORDER BY r.row_no, o.source, o.source_id
