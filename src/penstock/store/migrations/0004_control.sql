-- Reprocessing, and operations over many jobs that go on in the background.

-- The operation that is reopening items of this job, chunk by chunk. Until it has come to the end the
-- job cannot be complete and no barrier opens. Apart from `ingest_done`, which says whether all rows
-- are stored and must stay true if the job is cancelled meanwhile.
ALTER TABLE jobs ADD COLUMN reopening uuid;

-- What "retry all that failed since" looks through.
CREATE INDEX jobs_failures ON jobs (org_id, finished_at)
    WHERE state = 'failed' OR (state = 'done' AND error > 0);

CREATE TABLE bulk_operations (
    id               uuid PRIMARY KEY,
    org_id           bigint NOT NULL REFERENCES orgs,
    user_id          bigint NOT NULL REFERENCES users,
    ip               inet,
    action           text NOT NULL,
    filter           jsonb NOT NULL,
    params           jsonb NOT NULL DEFAULT '{}',
    -- Whose jobs it may touch, as its asker could when it was asked for: one org's (or all, for an
    -- admin), one user's (or all).
    scope_org        bigint,
    scope_owner      bigint,
    state            text NOT NULL CHECK (state IN ('counting', 'running', 'done', 'aborted', 'failed')),
    matched          integer NOT NULL DEFAULT 0 CHECK (matched >= 0),
    changed          integer NOT NULL DEFAULT 0 CHECK (changed >= 0),
    left_out         integer NOT NULL DEFAULT 0 CHECK (left_out >= 0),
    failed           integer NOT NULL DEFAULT 0 CHECK (failed >= 0),
    items            bigint NOT NULL DEFAULT 0 CHECK (items >= 0),
    items_left_out   bigint NOT NULL DEFAULT 0 CHECK (items_left_out >= 0),
    errors           jsonb NOT NULL DEFAULT '[]',
    -- All jobs up to here are behind it.
    last_job         uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    -- A job too large for one transaction, and how far it is in it.
    target           uuid,
    target_row       integer NOT NULL DEFAULT 0,
    target_selection jsonb,
    asked_at         timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    finished_at      timestamptz,
    CHECK ((state IN ('done', 'aborted', 'failed')) = (finished_at IS NOT NULL)),
    CHECK ((target IS NULL) = (target_selection IS NULL)),
    CHECK (target IS NULL OR state = 'running')
) WITH (fillfactor = 50);

CREATE INDEX bulk_live ON bulk_operations (asked_at) WHERE state IN ('counting', 'running');
CREATE INDEX bulk_listed ON bulk_operations (org_id, id);

ALTER TABLE bulk_operations ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON bulk_operations TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY all_orgs ON bulk_operations TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE ON bulk_operations TO penstock_api, penstock_admin;
