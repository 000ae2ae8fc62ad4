-- name: known_pictures
-- Pictures of an org at these URLs.
SELECT p.url, p.blob_key, p.sha256, p.size, p.width, p.height, p.thumbnails, p.phash, p.dhash
FROM pictures p WHERE p.org_id = $1 AND p.url_hash = ANY ($2::text[])

-- name: same_content
-- For each content, a picture of the org that has it, with the most thumbnails.
SELECT DISTINCT ON (p.sha256) p.url, p.blob_key, p.sha256, p.size, p.width, p.height, p.thumbnails, p.phash, p.dhash
FROM pictures p WHERE p.org_id = $1 AND p.sha256 = ANY ($2::text[])
ORDER BY p.sha256, length(p.thumbnails::text) DESC

-- name: store_pictures
-- Pictures at URLs, each written over what is known of its URL.
INSERT INTO pictures AS p (org_id, job_id, url_hash, url, blob_key, sha256, size, width, height,
                           thumbnails, phash, dhash, bands)
SELECT $1, $2, n.url_hash, n.url, n.blob_key, n.sha256, n.size, n.width, n.height, n.thumbnails::jsonb,
       n.phash, n.dhash, hash_bands(n.phash, n.dhash)
FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::integer[],
            $9::integer[], $10::text[], $11::text[], $12::text[])
    AS n (url_hash, url, blob_key, sha256, size, width, height, thumbnails, phash, dhash)
ORDER BY n.url_hash
ON CONFLICT (org_id, url_hash) DO UPDATE SET
    blob_key = excluded.blob_key, sha256 = excluded.sha256, size = excluded.size,
    width = coalesce(excluded.width, CASE WHEN p.sha256 = excluded.sha256 THEN p.width END),
    height = coalesce(excluded.height, CASE WHEN p.sha256 = excluded.sha256 THEN p.height END),
    thumbnails = CASE WHEN p.sha256 = excluded.sha256 THEN p.thumbnails ELSE '{}' END
                 || excluded.thumbnails,
    phash = coalesce(excluded.phash, CASE WHEN p.sha256 = excluded.sha256 THEN p.phash END),
    dhash = coalesce(excluded.dhash, CASE WHEN p.sha256 = excluded.sha256 THEN p.dhash END),
    bands = coalesce(excluded.bands, CASE WHEN p.sha256 = excluded.sha256 THEN p.bands END),
    job_id = excluded.job_id

-- name: near_pictures
-- Products with pictures that look like these: pictures that share a band of a hash, by how many bits of
-- both hashes differ. Each picture is at most once in it.
SELECT k.place, p.id, p.source, p.source_id, p.sku, p.gtin, p.data->'identifiers'->>'mpn' AS mpn,
       p.data->>'brand' AS brand, p.data->>'title' AS title, p.published, n.distance
FROM unnest($2::integer[], $3::text[], $4::text[]) AS k (place, phash, dhash)
CROSS JOIN LATERAL (
    SELECT n.url, n.distance FROM (
        SELECT c.url, bit_count(('x' || c.phash)::bit(64) # ('x' || k.phash)::bit(64))
                      + bit_count(('x' || c.dhash)::bit(64) # ('x' || k.dhash)::bit(64)) AS distance
        FROM (SELECT * FROM pictures WHERE bands IS NOT NULL AND bands && hash_bands(k.phash, k.dhash) OFFSET 0) AS c
        WHERE c.org_id = $1 LIMIT 5000) AS n
    WHERE n.distance <= $5 ORDER BY n.distance LIMIT $6) AS n
CROSS JOIN LATERAL (
    SELECT * FROM products
    WHERE data->'images' IS NOT NULL AND data->'images' @> jsonb_build_array(jsonb_build_object('url', n.url)) OFFSET 0) AS p
WHERE p.org_id = $1 AND ($7::text IS NULL OR p.source = $7)

-- name: unused_pictures
-- Of the next pictures, by org and URL, those that no product uses, with the last one that was looked
-- at. Young ones, and those of jobs that are not over, may belong to products that are written now.
-- Counted, where EXISTS would do: PostgreSQL would read all products for one picture.
WITH walked AS MATERIALIZED (
    SELECT org_id, url_hash, url, job_id, created_at FROM pictures
    WHERE (org_id, url_hash) > ($1, $2) ORDER BY org_id, url_hash LIMIT $3
)
SELECT w.org_id, w.url_hash,
       w.created_at < now() - $4 * interval '1 hour'
       AND NOT coalesce((SELECT j.finished_at IS NULL FROM jobs j WHERE j.id = w.job_id LIMIT 1), false)
       AND 0 = (SELECT count(*) FROM (
                    SELECT org_id FROM products
                    WHERE data->'images' IS NOT NULL
                      AND data->'images' @> jsonb_build_array(jsonb_build_object('url', w.url))
                    OFFSET 0) AS p
                WHERE p.org_id = w.org_id)
       AS unused
FROM walked w ORDER BY w.org_id, w.url_hash

-- name: drop_pictures
-- Forget pictures that are still unused, and what they keep in blobs.
WITH gone AS (
    DELETE FROM pictures p USING unnest($1::bigint[], $2::text[]) AS u (org_id, url_hash)
    WHERE p.org_id = u.org_id AND p.url_hash = u.url_hash
      AND 0 = (SELECT count(*) FROM (
                   SELECT org_id FROM products
                   WHERE data->'images' IS NOT NULL
                     AND data->'images' @> jsonb_build_array(jsonb_build_object('url', p.url))
                   OFFSET 0) AS o
               WHERE o.org_id = p.org_id)
    RETURNING p.org_id, p.url_hash
), freed AS (
    DELETE FROM blob_refs r USING gone g
    WHERE r.org_id = g.org_id AND r.kind = ANY ($3::text[]) AND r.owner = g.url_hash
)
SELECT count(*) FROM gone
