-- Results that can be used again: the job that made them from the same bytes with the same key.
CREATE TABLE result_cache (
    org_id  bigint NOT NULL,
    sha256  text NOT NULL,
    key     text NOT NULL,
    job_id  uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    made_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, sha256, key)
);

CREATE INDEX result_cache_age ON result_cache (made_at);
ALTER TABLE result_cache ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON result_cache TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON result_cache TO penstock_admin USING (true);

-- The job whose results of the first stage this one began with.
ALTER TABLE jobs ADD COLUMN cached_from uuid;
