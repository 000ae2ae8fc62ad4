-- name: lock_products
-- Lock products in the order of their names. One by one: without statistics the planner would read and
-- sort them all.
SELECT p.id, p.source, p.source_id, p.version
FROM (SELECT k.source, k.source_id FROM unnest($2::text[], $3::text[]) AS k (source, source_id)
      ORDER BY k.source, k.source_id) AS k
CROSS JOIN LATERAL (
    SELECT p.id, p.source, p.source_id, p.version FROM products p
    WHERE p.org_id = $1 AND p.source = k.source AND p.source_id = k.source_id FOR UPDATE
) AS p

-- name: insert_products
-- Insert new products, as given or from their row's checkpoint, each with the note that its job created
-- it: there is nothing before it. Products that exist by now are left out.
WITH inserted AS (
    INSERT INTO products (id, org_id, source, source_id, sku, gtin, published, data, lineage, job_id, row_no,
                          title_key, price_key, maker, words, row_digest)
    SELECT n.id, $1, n.source, n.source_id, n.sku, n.gtin,
           n.published AND coalesce(i.normalized->'product'->>'published', 'true') <> 'false',
           d.data, coalesce(n.lineage::json, i.normalized->'lineage'), $2, n.row_no,
           title_key(d.data->>'title'), price_key(d.data->'price'->>'amount'), maker_key(d.data),
           title_words(d.data->>'title'), n.digest
    FROM (SELECT * FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[],
                               $9::text[], $10::text[], $11::integer[], $12::bytea[])
              AS n (id, source, source_id, sku, gtin, published, data, lineage, row_no, digest)
          ORDER BY source, source_id) AS n
    CROSS JOIN LATERAL (SELECT normalized FROM job_items WHERE job_id = $2 AND row_no = n.row_no LIMIT 1) AS i
    CROSS JOIN LATERAL (SELECT coalesce(n.data::jsonb, (i.normalized->'product')::jsonb) AS data OFFSET 0) AS d
    ON CONFLICT (org_id, source, source_id) DO NOTHING
    RETURNING id, row_no
), noted AS (
    INSERT INTO product_changes (job_id, product_id, org_id, row_no, version)
    SELECT $2, n.id, $1, n.row_no, 1 FROM inserted n
)
SELECT id FROM inserted

-- name: update_products
-- Known ones, locked before, each to the version of its before-image. Values that stay remember the row
-- they are from. Documents are parsed once per product: `OFFSET` keeps the casts in their subqueries.
UPDATE products p SET sku = n.sku, gtin = n.gtin, published = n.published, data = n.data,
    title_key = title_key(n.data->>'title'), price_key = price_key(n.data->'price'->>'amount'),
    maker = maker_key(n.data), row_digest = n.digest,
    words = CASE WHEN n.data->>'title' = p.data->>'title' THEN p.words
                 ELSE title_words(n.data->>'title') END,
    lineage = n.lineage, job_id = $1, row_no = n.row_no, updated_at = now(), version = n.version
FROM (
    SELECT g.id, g.sku, g.gtin, g.published, g.data::jsonb AS data, g.row_no, g.digest, c.version,
           CASE WHEN l.others = '{}' OR g.whole AND o.kept_fields IS NULL THEN g.lineage::json ELSE (
               SELECT g.lineage::jsonb || coalesce(jsonb_object_agg(k.key, CASE
                          WHEN jsonb_typeof(k.value) = 'object'
                          THEN jsonb_build_object('jobId', o.job_id, 'rowNo', o.row_no) || k.value
                          WHEN jsonb_array_length(k.value) = 4
                          THEN k.value || jsonb_build_array(o.job_id, o.row_no)
                          ELSE k.value END), '{}')
               FROM jsonb_each(l.others) AS k WHERE NOT g.whole OR k.key = ANY (o.kept_fields))::json
           END AS lineage
    FROM unnest($2::uuid[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::text[], $8::integer[],
                $9::boolean[], $10::bytea[])
        AS g (id, sku, gtin, published, data, lineage, row_no, whole, digest)
    JOIN products o ON o.id = g.id
    JOIN product_changes c ON c.job_id = $1 AND c.product_id = g.id
    -- Where values came from that this row does not say.
    CROSS JOIN LATERAL (
        SELECT o.lineage::jsonb - ARRAY(SELECT json_object_keys(g.lineage::json)) AS others OFFSET 0) AS l
    OFFSET 0
) AS n
WHERE p.id = n.id

-- name: keep_images
-- Before-images of products that are about to be changed, which the caller has locked, each with the
-- version that it will have: one that an undo took back is not given again. The first image of a job and
-- product is kept, unless the job was undone or another job changed the product since; then the earlier
-- image is kept in `earlier`, to be restored after it.
INSERT INTO product_changes AS c (job_id, product_id, org_id, row_no, before, version)
SELECT $1, p.id, p.org_id, n.row_no, to_jsonb(p),
       1 + greatest(p.version, (SELECT max(u.version) FROM product_changes u
                                WHERE u.product_id = p.id AND u.undone_at IS NOT NULL))
FROM unnest($2::uuid[], $3::integer[]) AS n (id, row_no) JOIN products p ON p.id = n.id
ON CONFLICT (job_id, product_id) DO UPDATE SET row_no = excluded.row_no, version = excluded.version,
    before = CASE WHEN c.undone_at IS NULL AND c.version = (excluded.before->>'version')::integer
                  THEN c.before ELSE excluded.before END,
    earlier = CASE WHEN c.undone_at IS NOT NULL OR c.version = (excluded.before->>'version')::integer
                   THEN c.earlier
                   ELSE coalesce(c.earlier, '[]') || jsonb_build_array(jsonb_build_object(
                       'before', c.before, 'version', c.version, 'row_no', c.row_no)) END,
    began_at = CASE WHEN c.undone_at IS NULL AND c.version = (excluded.before->>'version')::integer
                    THEN c.began_at ELSE now() END,
    changed_at = now(), undone_at = NULL, after = NULL
RETURNING product_id, version

-- name: find_products
-- Products of a source by any of their names, for a stage that compares. Those of other sources only by
-- the org's catalog key. OFFSET makes the planner look up name by name: before a table's first ANALYZE it
-- expects few products of an org, and would read them all.
SELECT p.id, p.source, p.source_id, p.sku, p.gtin, p.version, p.published, p.data, p.job_id,
       p.kept_fields AS kept, o.catalog_key
FROM products p JOIN orgs o ON o.id = p.org_id
WHERE p.id = ANY (ARRAY(
    SELECT p.id FROM unnest($3::text[]) AS n (name) CROSS JOIN LATERAL (
        SELECT id FROM products WHERE org_id = $1 AND source = $2 AND source_id = n.name OFFSET 0) AS p
    UNION SELECT p.id FROM unnest($4::text[]) AS n (name) CROSS JOIN LATERAL (
        SELECT id, source FROM products WHERE org_id = $1 AND sku = n.name COLLATE "C" OFFSET 0) AS p
    WHERE p.source = $2 OR (SELECT catalog_key FROM orgs WHERE id = $1) = 'sku'
    UNION SELECT p.id FROM unnest($5::text[]) AS n (name) CROSS JOIN LATERAL (
        SELECT id, source FROM products WHERE org_id = $1 AND gtin = n.name COLLATE "C" OFFSET 0) AS p
    WHERE p.source = $2 OR (SELECT catalog_key FROM orgs WHERE id = $1) = 'gtin'))

-- name: find_unchanged
-- Products of a source that rows with these digests would not change.
SELECT p.source_id, p.id FROM unnest($3::text[], $4::bytea[]) AS n (name, digest)
CROSS JOIN LATERAL (
    SELECT id, source_id FROM products
    WHERE org_id = $1 AND source = $2 AND source_id = n.name AND row_digest = n.digest
      AND published AND kept_fields IS NULL OFFSET 0) AS p

-- name: find_links
-- Products of other sources that share a GTIN, or brand and MPN, the first so many of each.
SELECT DISTINCT ON (p.id) p.id, p.source, p.source_id, p.sku, p.gtin, p.maker, p.title FROM (
    SELECT p.* FROM unnest($3::text[]) AS k (name) CROSS JOIN LATERAL (
        SELECT id, source, source_id, sku, gtin, data->>'title' AS title, maker
        FROM products WHERE org_id = $1 AND gtin = k.name AND source <> $2 ORDER BY source LIMIT $5) AS p
    UNION ALL SELECT p.* FROM unnest($4::text[]) AS k (name) CROSS JOIN LATERAL (
        SELECT id, source, source_id, sku, gtin, data->>'title' AS title, k.name AS maker
        FROM products WHERE org_id = $1 AND source <> $2 AND maker = k.name
        ORDER BY source LIMIT $5) AS p
) AS p ORDER BY p.id

-- name: source_with
-- The other source with the most products of these source ids that have the title or the GTIN beside
-- the id, and how many. Sources of shops and crawls, which send their products themselves, have a colon.
WITH RECURSIVE sources (source) AS (
    (SELECT source FROM products WHERE org_id = $1 ORDER BY source LIMIT 1)
    UNION ALL
    SELECT next.source FROM sources s CROSS JOIN LATERAL (
        SELECT source FROM products WHERE org_id = $1 AND source > s.source ORDER BY source LIMIT 1
    ) AS next
), others AS MATERIALIZED (
    SELECT source FROM sources WHERE source <> $2 AND position(':' IN source) = 0 LIMIT $6
)
SELECT o.source, count(*)::integer AS rows
FROM others o
CROSS JOIN unnest($3::text[], $4::text[], $5::text[]) AS n (source_id, title_key, gtin)
CROSS JOIN LATERAL (
    SELECT title_key, gtin FROM products
    WHERE org_id = $1 AND source = o.source AND source_id = n.source_id OFFSET 0
) AS p
WHERE p.title_key = n.title_key OR p.gtin = n.gtin
GROUP BY o.source ORDER BY rows DESC, o.source LIMIT 1

-- name: catalog_changed_since
-- Whether anything that rows are compared with was written, undone or set since then.
SELECT EXISTS (SELECT FROM products WHERE org_id = $1 AND updated_at >= $2)
    OR EXISTS (SELECT FROM product_changes WHERE org_id = $1 AND undone_at >= $2)
    OR EXISTS (SELECT FROM product_links WHERE org_id = $1 AND decided_at >= $2)
    OR EXISTS (SELECT FROM orgs WHERE id = $1 AND catalog_key_at >= $2)

-- name: files_of_source
-- Names of the jobs that last wrote some products of a source: usually those of their files.
SELECT DISTINCT j.name FROM (
    SELECT job_id FROM products WHERE org_id = $1 AND source = $2 ORDER BY source_id LIMIT $3) AS p
JOIN jobs j ON j.id = p.job_id ORDER BY j.name

-- name: forget_row_keys
-- Delete the keys of rows that are about to be replaced.
DELETE FROM job_keys WHERE job_id = $1 AND row_no = ANY ($2::integer[])

-- name: add_row_keys
-- Add the names (keys) of rows.
INSERT INTO job_keys (job_id, row_no, key, org_id, filled)
SELECT $1, k.row_no, k.key, $2, k.filled
FROM unnest($3::integer[], $4::text[], $5::smallint[]) AS k (row_no, key, filled)
ON CONFLICT DO NOTHING

-- name: rows_by_key
-- Which rows of a job share a name, the first so many of each.
SELECT k.key, r.row_no FROM unnest($2::text[]) AS k (key) CROSS JOIN LATERAL (
    SELECT row_no FROM job_keys n WHERE n.job_id = $1 AND n.key = k.key ORDER BY row_no LIMIT $3
) AS r
ORDER BY k.key, r.row_no

-- name: names_of_row
-- The keys of a row.
SELECT key FROM job_keys WHERE job_id = $1 AND row_no = $2

-- name: names_of_rows
-- The keys of rows.
SELECT DISTINCT n.key FROM unnest($2::integer[]) AS r (row_no)
JOIN job_keys n ON n.job_id = $1 AND n.row_no = r.row_no

-- name: first_of_key
-- The first row of each name.
SELECT k.key, r.row_no FROM unnest($2::text[]) AS k (key) CROSS JOIN LATERAL (
    SELECT row_no FROM job_keys n WHERE n.job_id = $1 AND n.key = k.key ORDER BY row_no LIMIT 1
) AS r

-- name: last_of_key
-- The last row of each name.
SELECT k.key, r.row_no FROM unnest($2::text[]) AS k (key) CROSS JOIN LATERAL (
    SELECT row_no FROM job_keys n WHERE n.job_id = $1 AND n.key = k.key ORDER BY row_no DESC LIMIT 1
) AS r

-- name: fullest_of_key
-- The most complete row of each name, of equal ones the first.
SELECT k.key, r.row_no FROM unnest($2::text[]) AS k (key) CROSS JOIN LATERAL (
    SELECT row_no FROM job_keys n WHERE n.job_id = $1 AND n.key = k.key
    ORDER BY filled DESC, row_no LIMIT 1
) AS r

-- name: row_documents
-- What earlier stages made of some rows, but of those that failed.
SELECT row_no, normalized FROM job_items
WHERE job_id = rows_of($1) AND row_no = ANY ($2::integer[]) AND normalized IS NOT NULL AND status <> 'ERROR'

-- name: tally_states
-- The states of a range of rows, without those that failed.
-- Each `->>` parses the whole document. Most documents end with their state, as a text that no value
-- can contain: its quotes would be escaped. Links are read only if there may be some.
SELECT state, count(*) AS rows, count(links) AS linked
FROM (SELECT CASE WHEN right(result::text, 15) = ',"match":"new"}' THEN 'new'
                  WHEN right(result::text, 21) = ',"match":"unchanged"}' THEN 'unchanged'
                  ELSE result->>'match' END AS state,
             CASE WHEN strpos(result::text, '"links"') > 0 THEN result->>'links' END AS links
      FROM job_items
      WHERE job_id = rows_of($1) AND row_no > $2 AND row_no <= $3 AND status <> 'ERROR'
      OFFSET 0) AS r
WHERE state IS NOT NULL GROUP BY 1

-- name: tally_problems
-- What was wrong in which column, in a range of rows, with the first example. A row that failed in a
-- later stage than the one that checks cells has only its error.
SELECT p->>'column' AS place, p->>'code' AS code, p->>'severity' AS severity, count(*) AS rows,
       min(i.row_no) AS first_row, (array_agg(p->>'message' ORDER BY i.row_no))[1] AS message,
       (array_agg(p->>'value' ORDER BY i.row_no))[1] AS value
FROM job_items i
CROSS JOIN LATERAL jsonb_array_elements(CASE
    WHEN i.status = 'ERROR' AND NOT coalesce(jsonb_path_exists(
        i.problems, '$[*] ? (@.severity == "error")'), false)
    THEN coalesce(i.problems, '[]') || jsonb_build_array(i.error || '{"severity": "error"}')
    WHEN jsonb_typeof(i.problems) = 'array' THEN i.problems END) AS p
WHERE i.job_id = rows_of($1) AND i.row_no > $2 AND i.row_no <= $3
  -- Most rows have none.
  AND (i.status = 'ERROR' OR i.problems <> '[]') GROUP BY 1, 2, 3

-- name: tally_changes
-- Rows of a range by the fields that they change, of rows that change a product or would.
SELECT fields, count(*) AS rows
FROM (SELECT ARRAY(SELECT DISTINCT c->>'field' FROM json_array_elements(changes) AS c ORDER BY 1) AS fields
      FROM (SELECT normalized->'match'->'changes' AS changes FROM job_items
            WHERE job_id = rows_of($1) AND row_no > $2 AND row_no <= $3 AND status <> 'ERROR'
              AND (strpos(result::text, '"match":"changed"') > 0 OR strpos(result::text, '"match":"held"') > 0)
            OFFSET 0) AS r
      WHERE json_typeof(changes) = 'array') AS f
GROUP BY 1

-- name: last_row
-- The number of the last row of a job.
SELECT total FROM jobs WHERE id = $1

-- name: lock_undo
-- One undo of a job at a time.
SELECT pg_advisory_xact_lock(hashtextextended('penstock.undo:' || current_schema() || ':' || $1, 0))

-- name: changes_to_undo
-- The next products a job changed. Where its last change was taken back, the one before it is next.
SELECT product_id, earlier IS NOT NULL AND undone_at IS NULL AS has_earlier,
    CASE WHEN undone_at IS NULL THEN row_no ELSE (earlier->-1->>'row_no')::integer END AS row_no,
    CASE WHEN undone_at IS NULL THEN before::text ELSE earlier->-1->>'before' END AS before,
    CASE WHEN undone_at IS NULL THEN version ELSE (earlier->-1->>'version')::integer END AS version
FROM product_changes
WHERE job_id = $1 AND product_id > $2 AND (undone_at IS NULL OR earlier IS NOT NULL)
ORDER BY product_id LIMIT $3

-- name: walk_changes
-- The next products that a job changed, and whether it first changed them since then.
SELECT product_id, undone_at IS NULL AND began_at >= $4 AS is_new
FROM product_changes WHERE job_id = $1 AND product_id > $2 ORDER BY product_id LIMIT $3

-- name: changes_of_edit
-- Which of these products were last changed by rows of an edit, in the form of `changes_to_undo`.
SELECT c.product_id, false AS has_earlier, c.row_no, c.before::text AS before, c.version
FROM unnest($2::uuid[]) AS n (product_id)
JOIN product_changes c ON c.job_id = $1 AND c.product_id = n.product_id
JOIN job_edit_rows r ON r.edit_id = $3 AND r.row_no = c.row_no
ORDER BY c.product_id

-- name: lock_changed
-- Lock the current products in the order of their names.
SELECT id, version, source, source_id, to_jsonb(p)::text AS image FROM products p
WHERE id = ANY ($1::uuid[]) ORDER BY source, source_id FOR UPDATE

-- name: look_at_changed
-- The current versions of the products.
SELECT id, version, source, source_id FROM products WHERE id = ANY ($1::uuid[])

-- name: restore_products
-- Each exactly as it was.
UPDATE products p SET source = b.source, source_id = b.source_id, sku = b.sku, gtin = b.gtin,
    published = b.published, version = b.version, data = b.data, lineage = b.lineage,
    job_id = b.job_id, row_no = b.row_no, created_at = b.created_at, updated_at = b.updated_at,
    kept_fields = b.kept_fields, title_key = title_key(b.data->>'title'),
    price_key = price_key(b.data->'price'->>'amount'), maker = maker_key(b.data),
    words = title_words(b.data->>'title'), row_digest = b.row_digest
FROM unnest($1::text[]) AS t (image)
CROSS JOIN LATERAL jsonb_populate_record(NULL::products, t.image::jsonb) AS b
WHERE p.id = b.id

-- name: delete_products
-- Delete products that the job created.
DELETE FROM products WHERE id = ANY ($1::uuid[])

-- name: mark_undone
-- Mark changes as undone. Their after-images are kept for the history of the products.
UPDATE product_changes c SET undone_at = now(), after = n.image::jsonb,
    earlier = CASE WHEN c.undone_at IS NULL THEN c.earlier ELSE nullif(c.earlier - (-1), '[]') END
FROM unnest($2::uuid[], $3::text[]) AS n (product_id, image)
WHERE c.job_id = $1 AND c.product_id = n.product_id
