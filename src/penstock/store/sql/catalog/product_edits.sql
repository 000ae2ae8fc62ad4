-- name: lock_product
-- One product to edit.
SELECT id, org_id, source, source_id, version, published, data, kept_fields
FROM products WHERE id = $1 FOR UPDATE

-- name: write_edit
-- The product as it was edited, with the version of its before-image. Its job and row stay those of the
-- last import.
UPDATE products p SET gtin = $2, published = $3, data = $4::jsonb, kept_fields = nullif($7::text[], '{}'),
    title_key = title_key($4::jsonb->>'title'), price_key = price_key($4::jsonb->'price'->>'amount'),
    maker = maker_key($4::jsonb), words = title_words($4::jsonb->>'title'), row_digest = NULL,
    lineage = ((p.lineage::jsonb - $5::text[]) || $6::jsonb)::json, updated_at = now(),
    version = $8
WHERE id = $1

-- name: add_edit
-- Who changed which fields of a product.
INSERT INTO product_edits (id, org_id, product_id, user_id, changes, undoes)
VALUES ($1, $2, $3, $4, $5::jsonb, $6)

-- name: get_edit
-- One edit of a product, locked, so that it is undone once.
SELECT id, changes, undone_at FROM product_edits WHERE id = $1 AND product_id = $2 FOR UPDATE

-- name: mark_edit_undone
-- An edit was undone.
UPDATE product_edits SET undone_at = now() WHERE id = $1

-- name: kept_by_others
-- Fields that other edits of the product keep.
SELECT DISTINCT c->>'field' AS field FROM product_edits e, jsonb_array_elements(e.changes) AS c
WHERE e.product_id = $1 AND e.id <> $2 AND e.undone_at IS NULL AND e.undoes IS NULL

-- name: price_points
-- The prices that a product had, the latest first: what each change found, and what it is now.
SELECT DISTINCT ON (at) at, price FROM (
    SELECT at, price FROM (
        SELECT (before->>'updated_at')::timestamptz AS at, before->'data'->'price' AS price
        FROM product_changes WHERE product_id = $1 AND before IS NOT NULL
        ORDER BY changed_at DESC LIMIT $2) AS c
    UNION ALL
    SELECT updated_at, data->'price' FROM products WHERE id = $1
) AS found
ORDER BY at DESC LIMIT $2
