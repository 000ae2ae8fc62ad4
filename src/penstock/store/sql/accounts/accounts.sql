-- name: principal
-- The principal of a key.
SELECT user_id, org_id, email, role, org, plan, shared_jobs, key_id, scopes, unused
FROM principal_of($1)

-- name: touch_key
-- Record when a key was last used.
SELECT touch_key($1)

-- name: find_org
-- An org by name.
SELECT id, name, plan, weight, max_slices, shared_jobs, catalog_key, created_at FROM orgs WHERE name = $1

-- name: list_orgs
-- All tenants, by name.
SELECT id, name, plan, weight, max_slices, shared_jobs, catalog_key, created_at FROM orgs ORDER BY name

-- name: add_org
-- A tenant.
INSERT INTO orgs (name, plan, weight) VALUES ($1, $2, $3) RETURNING id, name, plan, weight, max_slices, shared_jobs, catalog_key, created_at

-- name: change_org
-- Set the plan with its weight, the cap on slices and whether jobs are shared; NULL keeps a value.
UPDATE orgs SET plan = coalesce($2, plan), weight = coalesce($3, weight),
    max_slices = CASE WHEN $4::integer IS NULL THEN max_slices ELSE nullif($4, 0) END,
    shared_jobs = coalesce($5, shared_jobs),
    catalog_key = CASE WHEN $6::text IS NULL THEN catalog_key ELSE nullif($6, 'none') END,
    catalog_key_at = CASE WHEN $6::text IS NULL THEN catalog_key_at ELSE now() END
WHERE id = $1
RETURNING id, name, plan, weight, max_slices, shared_jobs, catalog_key, created_at

-- name: add_org_time
-- The org starts at the current virtual time, so that a new org has no advantage.
INSERT INTO org_time (org_id, vt) SELECT $1, v FROM virtual_clock WHERE pool = ''

-- name: find_user
-- A user by the folded e-mail address.
SELECT id, org_id, email, role, created_at, disabled_at FROM users WHERE email = $1

-- name: add_user
-- Add a user of an org.
INSERT INTO users (org_id, email, role) VALUES ($1, $2, $3)
RETURNING id, org_id, email, role, created_at, disabled_at
