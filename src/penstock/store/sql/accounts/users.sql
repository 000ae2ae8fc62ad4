-- name: get_user
-- One user, with its org.
SELECT u.id, u.org_id, u.email, u.role, o.name AS org, u.created_at, u.disabled_at,
       p.changed_at AS password_changed_at
FROM users u JOIN orgs o ON o.id = u.org_id LEFT JOIN passwords p ON p.user_id = u.id
WHERE u.id = $1

-- name: list_users
-- A page of users after an id, of one org or of all.
SELECT u.id, u.org_id, u.email, u.role, o.name AS org, u.created_at, u.disabled_at,
       p.changed_at AS password_changed_at
FROM users u JOIN orgs o ON o.id = u.org_id LEFT JOIN passwords p ON p.user_id = u.id
WHERE u.id > $1 AND ($2::text IS NULL OR o.name = $2)
  AND ($3::text IS NULL OR u.email = $3)
ORDER BY u.id LIMIT $4

-- name: set_role
-- Set the role of a user, from the next request on.
UPDATE users SET role = $2 WHERE id = $1

-- name: disable_user
-- Disable a user, from the next request on.
UPDATE users SET disabled_at = coalesce(disabled_at, now()) WHERE id = $1

-- name: enable_user
-- Enable a user again, with the keys and the password as before.
UPDATE users SET disabled_at = NULL WHERE id = $1

-- name: has_other_admin
-- Whether there is an admin other than this user.
SELECT EXISTS (SELECT FROM users WHERE role = 'admin' AND disabled_at IS NULL AND id <> $1)

-- name: lock_admins
-- One transaction at a time creates the first admin or takes an admin's rights away.
SELECT pg_advisory_xact_lock(hashtextextended('penstock.bootstrap', 0))
