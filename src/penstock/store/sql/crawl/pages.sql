-- name: known_page
-- A page of a company with its newest version.
SELECT p.id, p.version, p.etag, p.last_modified, v.final_url, v.content_type, v.blob_key, v.sha256,
       v.simhash, v.digest
FROM pages p JOIN page_versions v ON v.page_id = p.id AND v.version = p.version
WHERE p.org_id = $1 AND p.company = $2 AND p.url_hash = $3

-- name: baselines
-- For each page and version, the newest extracted version up to it that another job fetched.
SELECT w.page_id, b.version, b.blob_key, b.final_url, b.content_type, b.sha256, b.simhash, b.digest,
       b.kind, b.extractor
FROM unnest($3::uuid[], $4::integer[]) AS w (page_id, version)
CROSS JOIN LATERAL (
    SELECT v.* FROM page_versions v
    WHERE v.page_id = w.page_id AND v.version <= w.version AND v.org_id = $1 AND v.job_id <> $2
      AND v.digest IS NOT NULL
    ORDER BY v.version DESC LIMIT 1
) AS b

-- name: save_page
-- A page that was fetched; answers nothing if it has another version than the stage saw.
INSERT INTO pages AS p (id, org_id, company, url_hash, url, version, etag, last_modified, job_id)
VALUES ($1, $2, $3, $4, $5, $6, $8, $9, $10)
ON CONFLICT (org_id, company, url_hash) DO UPDATE SET
    version = excluded.version, etag = excluded.etag, last_modified = excluded.last_modified,
    job_id = excluded.job_id, checked_at = now(), state = 'live'
WHERE p.id = excluded.id AND p.version = $7
RETURNING p.id

-- name: add_version
-- The content of a page that was fetched.
INSERT INTO page_versions (page_id, version, org_id, job_id, row_no, final_url, content_type,
                           blob_key, sha256, size, simhash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (page_id, version) DO UPDATE SET
    job_id = excluded.job_id, row_no = excluded.row_no, final_url = excluded.final_url,
    content_type = excluded.content_type, blob_key = excluded.blob_key, sha256 = excluded.sha256,
    size = excluded.size, simhash = excluded.simhash, fetched_at = now(), kind = NULL,
    fields = NULL, lineage = NULL, digest = NULL, extractor = NULL, extracted_at = NULL

-- name: drop_old_versions
-- Versions of a page up to this one are deleted.
DELETE FROM page_versions WHERE page_id = $1 AND version <= $2 RETURNING version

-- name: expire_pages
-- These pages are gone.
UPDATE pages SET state = 'expired', checked_at = now(), job_id = $2
WHERE org_id = $1 AND (company, url_hash) IN (
    SELECT company, url_hash FROM unnest($3::text[], $4::text[]) AS e (company, url_hash))
RETURNING id

-- name: save_extraction
-- What was extracted from a version of a page.
UPDATE page_versions SET kind = $3, fields = $4::json, lineage = $5::json, digest = $6,
    extractor = $7, extracted_at = now()
WHERE page_id = $1 AND version = $2

-- name: back_to_version
-- An older version of a page is the newest again.
UPDATE pages SET version = $3 WHERE id = $1 AND version = $2 RETURNING id

-- name: drop_version
-- A version that did not differ from the one before it.
DELETE FROM page_versions WHERE page_id = $1 AND version = $2

-- name: known_robots
-- Rules of an origin that were read within the last day for this user agent.
SELECT rules FROM robots_rules
WHERE org_id = $1 AND origin = $2 AND user_agent = $3 AND fetched_at > now() - interval '1 day'

-- name: save_robots
-- The rules of an origin.
INSERT INTO robots_rules (org_id, origin, user_agent, rules) VALUES ($1, $2, $3, $4::json)
ON CONFLICT (org_id, origin) DO UPDATE SET
    user_agent = excluded.user_agent, rules = excluded.rules, fetched_at = now()

-- name: drop_old_robots
-- Forget rules that are too old to be used, some at a time.
DELETE FROM robots_rules WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM robots_rules WHERE fetched_at < now() - interval '1 day'
    ORDER BY fetched_at LIMIT $1))

-- name: count_failures
-- Pages of a company that failed in the first stage of a job, up to some.
SELECT count(*) FROM (
    SELECT 1 FROM job_items
    WHERE job_id = $1 AND group_key = $2 AND status = 'ERROR' AND stage = 0
      AND error->>'code' IS DISTINCT FROM $4
    ORDER BY row_no LIMIT $3
) AS failed

-- name: known_keys
-- Keys that items of a job have.
SELECT key FROM job_items WHERE job_id = $1 AND key = ANY ($2::text[])

-- name: counter_of_group
-- One counter of a group of a job.
SELECT value FROM group_counters WHERE job_id = $1 AND group_key = $2 AND counter = $3

-- name: list_pages
-- Pages, oldest first; of one company where asked.
SELECT p.id, p.company, p.url, p.state, p.version, o.name AS org, v.kind, v.fields, p.job_id,
       p.created_at, p.checked_at
FROM pages p JOIN page_versions v ON v.page_id = p.id AND v.version = p.version
JOIN orgs o ON o.id = p.org_id
WHERE p.id > coalesce($1, '00000000-0000-0000-0000-000000000000'::uuid)
  AND ($2::text IS NULL OR p.company = $2) AND ($3::text IS NULL OR p.url = $3)
ORDER BY p.id LIMIT $4

-- name: get_page
-- One page.
SELECT p.id, p.company, p.url, p.state, p.version, o.name AS org, v.kind, v.fields, p.job_id,
       p.created_at, p.checked_at
FROM pages p JOIN page_versions v ON v.page_id = p.id AND v.version = p.version
JOIN orgs o ON o.id = p.org_id WHERE p.id = $1

-- name: versions_of_page
-- The versions of a page, newest first.
SELECT version, job_id, row_no, final_url, content_type, blob_key, sha256, size, simhash, kind,
       fields, lineage, extractor, fetched_at, extracted_at
FROM page_versions WHERE page_id = $1 ORDER BY version DESC

-- name: blob_of_version
-- Where the raw content of a version is.
SELECT blob_key FROM page_versions WHERE page_id = $1 AND version = $2

-- name: release_blobs
-- The versions of a page keep nothing in blobs any more.
DELETE FROM blob_refs r USING page_versions v
WHERE v.page_id = $1 AND r.org_id = v.org_id AND r.kind = $2
  AND r.owner = v.page_id || ':' || v.version

-- name: delete_page
-- A page with its versions and its job posting.
DELETE FROM pages WHERE id = $1 RETURNING id

-- name: versions_before
-- Versions of pages fetched before a time, but for the newest of each page.
SELECT v.page_id, v.version FROM page_versions v JOIN pages p ON p.id = v.page_id
WHERE v.org_id = $1 AND v.fetched_at < now() - $2 * interval '1 day' AND v.version < p.version
ORDER BY v.fetched_at LIMIT $3 FOR UPDATE OF v SKIP LOCKED

-- name: count_versions_before
-- How many such versions there are.
SELECT count(*) FROM page_versions v JOIN pages p ON p.id = v.page_id
WHERE v.org_id = $1 AND v.fetched_at < now() - $2 * interval '1 day' AND v.version < p.version

-- name: drop_version
-- One version of a page.
DELETE FROM page_versions WHERE page_id = $1 AND version = $2
