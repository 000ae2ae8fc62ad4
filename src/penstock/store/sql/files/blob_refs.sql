-- name: hold_blobs
-- Keep these blobs from being deleted until the transaction ends, as an upload does with its own.
SELECT pg_advisory_xact_lock_shared(hashtextextended('penstock.blob:' || current_schema() || ':' || k.key, 0))
FROM (SELECT key FROM unnest($1::text[]) AS k (key) ORDER BY key) AS k

-- name: add_references
-- Add references to these blobs.
INSERT INTO blob_refs (blob_key, org_id, kind, owner)
SELECT r.blob_key, $1, r.kind, r.owner
FROM unnest($2::text[], $3::text[], $4::text[]) AS r (blob_key, kind, owner)
ON CONFLICT DO NOTHING

-- name: remove_references
-- Remove an owner's references of this kind.
DELETE FROM blob_refs WHERE org_id = $1 AND kind = $2 AND owner = $3
