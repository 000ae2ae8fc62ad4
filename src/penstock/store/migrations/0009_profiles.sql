-- What was learnt of suppliers' files, and what currencies were worth.

CREATE TABLE profiles (
    org_id      bigint NOT NULL REFERENCES orgs,
    name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    version     integer NOT NULL CHECK (version > 0),
    -- Of the header it was made for; files with the same columns find it by this.
    fingerprint text,
    body        jsonb NOT NULL,
    user_id     bigint NOT NULL REFERENCES users,
    created_at  timestamptz NOT NULL DEFAULT now(),
    -- A deleted profile keeps its versions, for jobs that ran with them.
    deleted_at  timestamptz,
    PRIMARY KEY (org_id, name, version)
);

CREATE INDEX profiles_found ON profiles (org_id, fingerprint, created_at DESC)
    WHERE fingerprint IS NOT NULL AND deleted_at IS NULL;

-- Of the whole installation: what one unit of a currency was worth in the base currency that day.
CREATE TABLE rates (
    base     text NOT NULL CHECK (base ~ '^[A-Z]{3}$'),
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    day      date NOT NULL,
    worth    numeric NOT NULL CHECK (worth > 0),
    PRIMARY KEY (base, currency, day)
);

ALTER TABLE profiles ENABLE ROW LEVEL SECURITY;
ALTER TABLE rates ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON profiles TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON profiles TO penstock_admin USING (true);
CREATE POLICY everyone ON rates TO penstock_api USING (true);
CREATE POLICY all_orgs ON rates TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE (deleted_at) ON profiles TO penstock_api, penstock_admin;
GRANT SELECT ON rates TO penstock_api, penstock_admin;
GRANT INSERT, UPDATE ON rates TO penstock_admin;
