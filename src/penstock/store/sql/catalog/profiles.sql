-- name: lock_profile
-- One new version at a time.
SELECT pg_advisory_xact_lock(hashtextextended('penstock.profile:' || current_schema() || ':' || $1, 0))

-- name: latest_version
-- The highest number this name ever had, deleted or not.
SELECT coalesce(max(version), 0) FROM profiles WHERE org_id = $1 AND name = $2

-- name: add_profile
-- A new version; the older ones stay.
INSERT INTO profiles (org_id, name, version, fingerprint, body, user_id)
VALUES ($1, $2, $3, $4, $5::jsonb, $6)

-- name: prune_versions
-- Drop the oldest versions of a profile beyond a number and a total size; the newest always stays.
DELETE FROM profiles p USING (
  SELECT version, row_number() OVER newest AS place, sum(length(body::text)) OVER newest AS bytes
  FROM profiles WHERE org_id = $1 AND name = $2 WINDOW newest AS (ORDER BY version DESC)) AS seen
WHERE p.org_id = $1 AND p.name = $2 AND p.version = seen.version AND seen.place > 1
  AND (seen.place > $3 OR seen.bytes > $4)

-- name: get_profile
-- A version, or the latest one.
SELECT name, version, fingerprint, body, created_at FROM profiles
WHERE org_id = $1 AND name = $2 AND deleted_at IS NULL AND ($3::integer IS NULL OR version = $3)
ORDER BY version DESC LIMIT 1

-- name: find_profile
-- The one saved last for files with these columns, if it is the latest version of its name.
SELECT p.name, p.version, p.fingerprint, p.body, p.created_at FROM profiles p
WHERE p.org_id = $1 AND p.fingerprint = $2 AND p.fingerprint IS NOT NULL AND p.deleted_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM profiles n WHERE n.org_id = p.org_id AND n.name = p.name
                    AND n.version > p.version AND n.deleted_at IS NULL)
ORDER BY p.created_at DESC LIMIT 1

-- name: list_profiles
-- The latest version of each, by name, some at a time.
SELECT DISTINCT ON (name) name, version, fingerprint, body, created_at FROM profiles
WHERE org_id = $1 AND name > $2 AND deleted_at IS NULL ORDER BY name, version DESC LIMIT $3

-- name: delete_profile
-- Delete a profile; new files no longer use it.
UPDATE profiles SET deleted_at = now()
WHERE org_id = $1 AND name = $2 AND deleted_at IS NULL RETURNING version

-- name: set_rates
-- What currencies were worth; a day that is there already is corrected.
INSERT INTO rates (base, currency, day, worth)
SELECT r.base, r.currency, r.day, r.worth
FROM unnest($1::text[], $2::text[], $3::date[], $4::numeric[]) AS r (base, currency, day, worth)
ON CONFLICT (base, currency, day) DO UPDATE SET worth = excluded.worth

-- name: rates_before
-- The latest rate of each currency on a day or before it.
SELECT DISTINCT ON (currency) currency, day, worth FROM rates
WHERE base = $1 AND day <= $2 AND day > $2 - 366 ORDER BY currency, day DESC
