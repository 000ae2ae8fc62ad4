-- name: of_all
-- A page of changes, newest first. There is one statement for each index.
SELECT a.id, a.org_id, o.name AS org, a.user_id, u.email, a.action, a.target, host(a.ip) AS ip,
       a.before, a.after, a.created_at
FROM audit a LEFT JOIN orgs o ON o.id = a.org_id LEFT JOIN users u ON u.id = a.user_id
WHERE a.id < $1
  AND ($2::bigint IS NULL OR a.org_id = $2)
  AND ($3::bigint IS NULL OR a.user_id = $3)
  AND ($4::text IS NULL OR a.action = $4)
  AND ($5::text IS NULL OR a.target = $5)
ORDER BY a.id DESC LIMIT $6

-- name: of_org
-- … of one org.
SELECT a.id, a.org_id, o.name AS org, a.user_id, u.email, a.action, a.target, host(a.ip) AS ip,
       a.before, a.after, a.created_at
FROM audit a LEFT JOIN orgs o ON o.id = a.org_id LEFT JOIN users u ON u.id = a.user_id
WHERE a.org_id = $2
  AND a.id < $1
  AND ($3::bigint IS NULL OR a.user_id = $3)
  AND ($4::text IS NULL OR a.action = $4)
  AND ($5::text IS NULL OR a.target = $5)
ORDER BY a.id DESC LIMIT $6

-- name: of_user
-- … by one user.
SELECT a.id, a.org_id, o.name AS org, a.user_id, u.email, a.action, a.target, host(a.ip) AS ip,
       a.before, a.after, a.created_at
FROM audit a LEFT JOIN orgs o ON o.id = a.org_id LEFT JOIN users u ON u.id = a.user_id
WHERE a.user_id = $3
  AND a.id < $1
  AND ($2::bigint IS NULL OR a.org_id = $2)
  AND ($4::text IS NULL OR a.action = $4)
  AND ($5::text IS NULL OR a.target = $5)
ORDER BY a.id DESC LIMIT $6

-- name: of_action
-- … of one kind.
SELECT a.id, a.org_id, o.name AS org, a.user_id, u.email, a.action, a.target, host(a.ip) AS ip,
       a.before, a.after, a.created_at
FROM audit a LEFT JOIN orgs o ON o.id = a.org_id LEFT JOIN users u ON u.id = a.user_id
WHERE a.action = $4
  AND a.id < $1
  AND ($2::bigint IS NULL OR a.org_id = $2)
  AND ($3::bigint IS NULL OR a.user_id = $3)
  AND ($5::text IS NULL OR a.target = $5)
ORDER BY a.id DESC LIMIT $6

-- name: of_target
-- … of one thing.
SELECT a.id, a.org_id, o.name AS org, a.user_id, u.email, a.action, a.target, host(a.ip) AS ip,
       a.before, a.after, a.created_at
FROM audit a LEFT JOIN orgs o ON o.id = a.org_id LEFT JOIN users u ON u.id = a.user_id
WHERE a.target = $5
  AND a.id < $1
  AND ($2::bigint IS NULL OR a.org_id = $2)
  AND ($3::bigint IS NULL OR a.user_id = $3)
  AND ($4::text IS NULL OR a.action = $4)
ORDER BY a.id DESC LIMIT $6

-- name: drop_old
-- Delete the oldest entries beyond their retention. Ids are in the order of time.
WITH oldest AS (SELECT id, created_at FROM audit ORDER BY id LIMIT $2)
DELETE FROM audit WHERE id = ANY (ARRAY(
    SELECT id FROM oldest WHERE created_at < now() - $1 * interval '1 day'))
