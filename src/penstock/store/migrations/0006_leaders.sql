-- Who runs the services that the whole installation needs once. The lock is the truth and belongs to
-- the leader's session; this row says who it is, and since when nothing was heard of it.
CREATE TABLE leaders (
    name    text PRIMARY KEY,
    worker  text NOT NULL,
    backend integer NOT NULL,
    took_at timestamptz NOT NULL DEFAULT now(),
    beat_at timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 10);

ALTER TABLE leaders ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_orgs ON leaders TO penstock_admin USING (true);
GRANT SELECT ON leaders TO penstock_admin;
