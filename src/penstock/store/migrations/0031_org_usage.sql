-- What each org keeps, kept up to date with every file and batch of rows: quotas are checked against
-- it, and counting would take longer the more there is.
CREATE TABLE org_usage (
    org_id     bigint PRIMARY KEY REFERENCES orgs,
    file_bytes bigint NOT NULL DEFAULT 0,
    rows       bigint NOT NULL DEFAULT 0,
    row_bytes  bigint NOT NULL DEFAULT 0
);

ALTER TABLE org_usage ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON org_usage TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON org_usage TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE ON org_usage TO penstock_api, penstock_admin;

-- Of each org few are open at a time; each new one looks how many.
CREATE INDEX uploads_open ON uploads (org_id) WHERE finished_at IS NULL;

INSERT INTO org_usage (org_id, file_bytes, rows)
SELECT o.id, coalesce((SELECT sum(size) FROM files f WHERE f.org_id = o.id), 0),
       coalesce((SELECT sum(total) FROM jobs j WHERE j.org_id = o.id), 0)
FROM orgs o;
