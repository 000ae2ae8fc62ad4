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

-- Files that no job uses are looked for, oldest first.
CREATE INDEX files_age ON files (created_at, id);
CREATE INDEX jobs_file ON jobs (file_id) WHERE file_id IS NOT NULL;
CREATE INDEX dead_letters_file ON dead_letters (file_id) WHERE file_id IS NOT NULL;

-- Who the folder of blobs belongs to: nobody sweeps the blobs of another installation.
CREATE TABLE installation (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id  uuid NOT NULL DEFAULT gen_random_uuid()
);

INSERT INTO installation DEFAULT VALUES;

ALTER TABLE installation ENABLE ROW LEVEL SECURITY;
