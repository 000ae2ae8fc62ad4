-- name: known_pictures
-- Pictures of an org at these URLs.
SELECT p.url, p.blob_key, p.sha256, p.size, p.width, p.height, p.thumbnails
FROM pictures p WHERE p.org_id = $1 AND p.url_hash = ANY ($2::text[])

-- name: same_content
-- For each content, a picture of the org that has it, with the most thumbnails.
SELECT DISTINCT ON (p.sha256) p.url, p.blob_key, p.sha256, p.size, p.width, p.height, p.thumbnails
FROM pictures p WHERE p.org_id = $1 AND p.sha256 = ANY ($2::text[])
ORDER BY p.sha256, length(p.thumbnails::text) DESC

-- name: store_pictures
-- Pictures at URLs, each written over what is known of its URL.
INSERT INTO pictures AS p (org_id, job_id, url_hash, url, blob_key, sha256, size, width, height,
                           thumbnails)
SELECT $1, $2, n.url_hash, n.url, n.blob_key, n.sha256, n.size, n.width, n.height, n.thumbnails::jsonb
FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::integer[],
            $9::integer[], $10::text[])
    AS n (url_hash, url, blob_key, sha256, size, width, height, thumbnails)
ORDER BY n.url_hash
ON CONFLICT (org_id, url_hash) DO UPDATE SET
    blob_key = excluded.blob_key, sha256 = excluded.sha256, size = excluded.size,
    width = coalesce(excluded.width, CASE WHEN p.sha256 = excluded.sha256 THEN p.width END),
    height = coalesce(excluded.height, CASE WHEN p.sha256 = excluded.sha256 THEN p.height END),
    thumbnails = CASE WHEN p.sha256 = excluded.sha256 THEN p.thumbnails ELSE '{}' END
                 || excluded.thumbnails,
    job_id = excluded.job_id
