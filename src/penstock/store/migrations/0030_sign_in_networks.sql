-- Tries to sign in are counted per account and network; networks that signed in are remembered.

-- Addresses of users are stored folded and compared as they are stored.
UPDATE users u SET email = lower(email)
WHERE email <> lower(email)
  AND NOT EXISTS (SELECT FROM users o WHERE o.id <> u.id AND lower(o.email) = lower(u.email));
DROP INDEX users_email;
CREATE OR REPLACE FUNCTION password_of(address text)
    RETURNS TABLE (user_id bigint, org_id bigint, email text, role text, org text, plan text,
                   shared_jobs boolean, hash text)
    LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT u.id, o.id, u.email, u.role, o.name, o.plan, o.shared_jobs, p.hash
    FROM users u JOIN orgs o ON o.id = u.org_id JOIN passwords p ON p.user_id = u.id
    WHERE u.email = address AND u.disabled_at IS NULL;
END;

-- Only tries of the last hour count.
DELETE FROM sign_in_tries;
ALTER TABLE sign_in_tries RENAME COLUMN subject TO account;
ALTER TABLE sign_in_tries ADD COLUMN network bytea NOT NULL;
ALTER INDEX sign_in_tries_recent RENAME TO sign_in_tries_account;
CREATE INDEX sign_in_tries_network ON sign_in_tries (network, at DESC);
GRANT INSERT (network) ON sign_in_tries TO penstock_api;

-- Networks from which an account was signed in to: others' failed tries do not shut them out.
CREATE TABLE sign_in_networks (
    account bytea NOT NULL,
    network bytea NOT NULL,
    at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account, network)
);

CREATE INDEX sign_in_networks_age ON sign_in_networks (at);
ALTER TABLE sign_in_networks ENABLE ROW LEVEL SECURITY;
CREATE POLICY everyone ON sign_in_networks TO penstock_api USING (true);
GRANT SELECT, INSERT (account, network), UPDATE (at) ON sign_in_networks TO penstock_api;
