-- Files that come in several requests. The upload's id becomes the file's; how far it is, is on disk.
CREATE TABLE uploads (
    id          uuid PRIMARY KEY,
    org_id      bigint NOT NULL REFERENCES orgs,
    user_id     bigint NOT NULL REFERENCES users,
    name        text NOT NULL,
    media_type  text NOT NULL,
    length      bigint NOT NULL CHECK (length >= 0),
    metadata    text NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL,
    finished_at timestamptz
);

CREATE INDEX uploads_expiry ON uploads (expires_at);

ALTER TABLE uploads ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON uploads TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY all_orgs ON uploads TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE (finished_at), DELETE ON uploads TO penstock_api, penstock_admin;

-- Answers remembered under an idempotency key are not only those to jobs.
ALTER TABLE idempotency_keys ALTER COLUMN job_id DROP NOT NULL;
ALTER TABLE idempotency_keys ADD COLUMN status smallint NOT NULL DEFAULT 202;
ALTER TABLE idempotency_keys ADD COLUMN headers jsonb NOT NULL DEFAULT '{}';
