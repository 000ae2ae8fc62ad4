-- name: holder
-- The principal of a session.
SELECT user_id, org_id, email, role, org, plan, shared_jobs, session_id, unused
FROM holder_of_session($1)

-- name: touch_session
-- Extend a session that is in use.
SELECT touch_session($1, $2)

-- name: password
-- The hash of a user's password; no row for unknown or disabled users.
SELECT user_id, org_id, email, role, org, plan, shared_jobs, hash FROM password_of($1)

-- name: add_session
-- Only the hash of a session's token is kept.
INSERT INTO sessions (id, org_id, user_id, hash, ip, agent, idle_until, expires_at)
VALUES ($1, $2, $3, $4, $5::inet, $6, now() + make_interval(secs => $7),
        now() + make_interval(secs => $8))

-- name: open_sessions
-- A page of sessions that are open, newest first, of one user or of all that may be seen.
SELECT s.id, s.org_id, s.user_id, u.email, host(s.ip) AS ip, s.agent, s.created_at, s.seen_at,
       least(s.idle_until, s.expires_at) AS expires_at
FROM sessions s JOIN users u ON u.id = s.user_id
WHERE ($1::uuid IS NULL OR s.id < $1) AND ($2::bigint IS NULL OR s.user_id = $2)
  AND s.idle_until > now() AND s.expires_at > now()
ORDER BY s.id DESC LIMIT $3

-- name: drop_session
-- Delete one session.
DELETE FROM sessions WHERE id = $1 RETURNING user_id, org_id

-- name: drop_sessions
-- Delete all sessions of a user except the one of this request.
DELETE FROM sessions WHERE user_id = $1 AND id IS DISTINCT FROM $2::uuid

-- name: set_password
-- Store the hash of a user's password.
INSERT INTO passwords (user_id, org_id, hash) VALUES ($1, $2, $3)
ON CONFLICT (user_id) DO UPDATE SET hash = $3, changed_at = now()

-- name: has_admin_with_password
-- Whether any admin could sign in.
SELECT EXISTS (SELECT FROM users u JOIN passwords p ON p.user_id = u.id
               WHERE u.role = 'admin' AND u.disabled_at IS NULL)

-- name: lock_tries
-- Tries on one account, or of one network, are counted one after the other.
SELECT pg_advisory_xact_lock(hashtextextended(
    'penstock.try:' || current_schema() || ':' || encode($1, 'hex'), 0))

-- name: wait_for_pair
-- How long until a network may try this account again: until its $3-th last try is an hour old.
SELECT extract(epoch FROM at + interval '1 hour' - now()) * 1000 AS wait_ms
FROM sign_in_tries WHERE account = $1 AND network = $2 AND at > now() - interval '1 hour'
ORDER BY at DESC OFFSET $3 LIMIT 1

-- name: wait_for_account
-- The same for tries on an account from any network.
SELECT extract(epoch FROM at + interval '1 hour' - now()) * 1000 AS wait_ms
FROM sign_in_tries WHERE account = $1 AND at > now() - interval '1 hour'
ORDER BY at DESC OFFSET $2 LIMIT 1

-- name: wait_for_network
-- The same for tries of a network on any account.
SELECT extract(epoch FROM at + interval '1 hour' - now()) * 1000 AS wait_ms
FROM sign_in_tries WHERE network = $1 AND at > now() - interval '1 hour'
ORDER BY at DESC OFFSET $2 LIMIT 1

-- name: knows_network
-- Whether this account was signed in to from this network before.
SELECT EXISTS (SELECT FROM sign_in_networks WHERE account = $1 AND network = $2)

-- name: add_try
-- An attempt is counted before the password is checked, so that concurrent attempts do not exceed the limit.
INSERT INTO sign_in_tries (account, network) VALUES ($1, $2)

-- name: forgive_pair
-- The password was right: forget earlier failures from the same network.
DELETE FROM sign_in_tries WHERE account = $1 AND network = $2

-- name: know_network
-- Record the network that an account was signed in from.
INSERT INTO sign_in_networks (account, network) VALUES ($1, $2)
ON CONFLICT (account, network) DO UPDATE SET at = now()

-- name: forgive_account
-- The password was changed: forget all failures of the account.
DELETE FROM sign_in_tries WHERE account = $1

-- name: forget_sessions
-- Delete sessions that have ended or expired, a chunk at a time.
DELETE FROM sessions WHERE id = ANY (ARRAY(
    SELECT id FROM sessions WHERE idle_until < now() ORDER BY idle_until LIMIT 1000))

-- name: forget_tries
-- Delete attempts that no longer count, a chunk at a time.
DELETE FROM sign_in_tries WHERE id = ANY (ARRAY(
    SELECT id FROM sign_in_tries WHERE at < now() - interval '1 hour' ORDER BY at LIMIT 5000))

-- name: forget_networks
-- Delete networks without a sign-in for half a year, a chunk at a time.
DELETE FROM sign_in_networks WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM sign_in_networks WHERE at < now() - interval '180 days' ORDER BY at
    LIMIT 1000))
