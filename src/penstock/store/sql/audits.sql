-- name: list_audit
-- A page of changes, newest first.
SELECT a.id, a.org_id, o.name AS org, a.user_id, u.email, a.action, a.target, host(a.ip) AS ip,
       a.before, a.after, a.created_at
FROM audit a LEFT JOIN orgs o ON o.id = a.org_id LEFT JOIN users u ON u.id = a.user_id
WHERE a.id < $1
  AND ($2::bigint IS NULL OR a.org_id = $2)
  AND ($3::bigint IS NULL OR a.user_id = $3)
  AND ($4::text IS NULL OR a.action = $4)
  AND ($5::text IS NULL OR a.target = $5)
ORDER BY a.id DESC LIMIT $6
