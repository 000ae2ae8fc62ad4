-- Signing in: passwords, sessions, what a key may do, and how often someone has tried.

CREATE FUNCTION current_actor() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('penstock.user', true), '')::bigint;

-- Addresses are compared without regard to case.
CREATE INDEX users_email ON users (lower(email));

-- Apart from the users, so that whoever may read users reads no hash.
CREATE TABLE passwords (
    user_id    bigint PRIMARY KEY REFERENCES users ON DELETE CASCADE,
    org_id     bigint NOT NULL REFERENCES orgs,
    hash       text NOT NULL CHECK (hash LIKE '$argon2id$%'),
    changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE sessions (
    id         uuid PRIMARY KEY,
    org_id     bigint NOT NULL REFERENCES orgs,
    user_id    bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    hash       bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    ip         inet,
    agent      text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    seen_at    timestamptz NOT NULL DEFAULT now(),
    -- Ends here unless it is used before, and there whatever happens.
    idle_until timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_age ON sessions (idle_until);

-- Failed tries to sign in of the last hour, by account and by address, both as hashes: what is
-- typed into the wrong field may be a password.
CREATE TABLE sign_in_tries (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    subject bytea NOT NULL,
    at      timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX sign_in_tries_recent ON sign_in_tries (subject, at DESC);
CREATE INDEX sign_in_tries_age ON sign_in_tries (at);

ALTER TABLE api_keys ADD COLUMN scopes text[] NOT NULL DEFAULT '{read,write,admin}'
    CHECK (scopes <@ ARRAY['read', 'write', 'admin'] AND 'read' = ANY (scopes));
ALTER TABLE api_keys ADD COLUMN last_used_at timestamptz;
CREATE INDEX api_keys_user ON api_keys (user_id, id);

-- The whole installation's changes, those of one person, and those of one thing, newest first.
CREATE INDEX audit_of_user ON audit (user_id, id DESC);
CREATE INDEX audit_of_target ON audit (target, id DESC);
CREATE INDEX audit_of_action ON audit (action, id DESC);

ALTER TABLE passwords ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE sign_in_tries ENABLE ROW LEVEL SECURITY;

-- Of keys, passwords and sessions everyone has their own, whether or not the org shares its jobs.
DROP POLICY own_org ON api_keys;
CREATE POLICY own_rows ON api_keys TO penstock_api
    USING (org_id = (SELECT current_org()) AND user_id = (SELECT current_actor()));
CREATE POLICY own_rows ON passwords TO penstock_api
    USING (org_id = (SELECT current_org()) AND user_id = (SELECT current_actor()));
CREATE POLICY own_rows ON sessions TO penstock_api
    USING (org_id = (SELECT current_org()) AND user_id = (SELECT current_actor()));
CREATE POLICY all_orgs ON passwords TO penstock_admin USING (true);
CREATE POLICY all_orgs ON sessions TO penstock_admin USING (true);
-- Counted before anyone is known.
CREATE POLICY everyone ON sign_in_tries TO penstock_api USING (true);
CREATE POLICY all_orgs ON virtual_clock FOR SELECT TO penstock_admin USING (true);

GRANT SELECT (scopes, last_used_at) ON api_keys TO penstock_api, penstock_admin;
GRANT INSERT (org_id, user_id, hash, prefix, name, expires_at, scopes), UPDATE (revoked_at)
    ON api_keys TO penstock_api, penstock_admin;
GRANT SELECT (user_id, org_id, changed_at), INSERT (user_id, org_id, hash),
    UPDATE (hash, changed_at) ON passwords TO penstock_api, penstock_admin;
GRANT SELECT (id, org_id, user_id, ip, agent, created_at, seen_at, idle_until, expires_at),
    INSERT (id, org_id, user_id, hash, ip, agent, idle_until, expires_at), DELETE
    ON sessions TO penstock_api, penstock_admin;
GRANT SELECT, INSERT (subject), DELETE ON sign_in_tries TO penstock_api;
GRANT INSERT (org_id, email, role), UPDATE (role, disabled_at) ON users TO penstock_admin;
GRANT INSERT (name, plan, weight), UPDATE (plan, weight, max_slices, shared_jobs) ON orgs
    TO penstock_admin;
GRANT INSERT ON org_time TO penstock_admin;
GRANT SELECT ON virtual_clock TO penstock_admin;

-- What the API needs across orgs: these return just that and nothing else.
-- `unused`: nobody has noted for a minute that it is in use.
DROP FUNCTION principal_of(bytea);
CREATE FUNCTION principal_of(key_hash bytea)
    RETURNS TABLE (user_id bigint, org_id bigint, email text, role text, org text, plan text,
                   shared_jobs boolean, key_id bigint, scopes text[], unused boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT u.id, o.id, u.email, u.role, o.name, o.plan, o.shared_jobs, k.id, k.scopes,
           coalesce(k.last_used_at < now() - interval '1 minute', true)
    FROM api_keys k JOIN users u ON u.id = k.user_id JOIN orgs o ON o.id = u.org_id
    WHERE k.hash = key_hash AND k.revoked_at IS NULL AND u.disabled_at IS NULL
      AND (k.expires_at IS NULL OR k.expires_at > now());
END;

CREATE FUNCTION holder_of_session(token_hash bytea)
    RETURNS TABLE (user_id bigint, org_id bigint, email text, role text, org text, plan text,
                   shared_jobs boolean, session_id uuid, unused boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT u.id, o.id, u.email, u.role, o.name, o.plan, o.shared_jobs, s.id,
           s.seen_at < now() - interval '1 minute'
    FROM sessions s JOIN users u ON u.id = s.user_id JOIN orgs o ON o.id = u.org_id
    WHERE s.hash = token_hash AND u.disabled_at IS NULL
      AND s.idle_until > now() AND s.expires_at > now();
END;

CREATE FUNCTION password_of(address text)
    RETURNS TABLE (user_id bigint, org_id bigint, email text, role text, org text, plan text,
                   shared_jobs boolean, hash text)
    LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT u.id, o.id, u.email, u.role, o.name, o.plan, o.shared_jobs, p.hash
    FROM users u JOIN orgs o ON o.id = u.org_id JOIN passwords p ON p.user_id = u.id
    WHERE lower(u.email) = lower(address) AND u.disabled_at IS NULL
    ORDER BY u.email = address DESC, u.id LIMIT 1;
END;

CREATE FUNCTION touch_key(key_hash bytea) RETURNS void LANGUAGE sql VOLATILE SECURITY DEFINER
BEGIN ATOMIC
    UPDATE api_keys SET last_used_at = now() WHERE hash = key_hash;
END;

CREATE FUNCTION touch_session(token_hash bytea, idle_seconds double precision)
    RETURNS void LANGUAGE sql VOLATILE SECURITY DEFINER
BEGIN ATOMIC
    UPDATE sessions SET seen_at = now(), idle_until = now() + make_interval(secs => idle_seconds)
    WHERE hash = token_hash;
END;

REVOKE ALL ON FUNCTION principal_of(bytea), holder_of_session(bytea), password_of(text),
    touch_key(bytea), touch_session(bytea, double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION principal_of(bytea), holder_of_session(bytea), password_of(text),
    touch_key(bytea), touch_session(bytea, double precision) TO penstock_api, penstock_admin;
