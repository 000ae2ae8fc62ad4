-- Webhooks: where an org wants to be told of what happens, and what became of each telling.

CREATE TABLE webhook_endpoints (
    id              uuid PRIMARY KEY,
    org_id          bigint NOT NULL REFERENCES orgs,
    -- Who made it: it is told of the jobs that this user may see.
    user_id         bigint NOT NULL REFERENCES users,
    url             text NOT NULL CHECK (length(url) <= 4096),
    description     text NOT NULL DEFAULT '' CHECK (length(description) <= 500),
    events          text[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 50),
    enabled         boolean NOT NULL DEFAULT true,
    -- Why it was disabled, if nobody did it on purpose.
    disabled_reason text,
    -- Sealed: who reads the table reads no secret.
    secret          bytea NOT NULL,
    old_secret      bytea,
    old_until       timestamptz,
    -- What was committed before it is not told.
    since           xid8 NOT NULL DEFAULT pg_current_xact_id(),
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    deleted_at      timestamptz,
    CHECK ((old_secret IS NULL) = (old_until IS NULL)),
    CHECK (deleted_at IS NULL OR NOT enabled)
);

CREATE INDEX webhook_endpoints_listed ON webhook_endpoints (org_id, id) WHERE deleted_at IS NULL;
CREATE INDEX webhook_endpoints_told ON webhook_endpoints (org_id) WHERE enabled;

-- One event for one endpoint, and what became of it.
CREATE TABLE webhook_deliveries (
    id          uuid PRIMARY KEY,
    org_id      bigint NOT NULL REFERENCES orgs,
    user_id     bigint NOT NULL REFERENCES users,
    endpoint_id uuid NOT NULL REFERENCES webhook_endpoints,
    -- Unset: somebody asked for a test.
    event_id    bigint,
    event       text NOT NULL,
    -- The job that the event is about.
    about_job   uuid,
    -- The item that carries it out; unset until it has one.
    stream_job  uuid,
    row_no      integer,
    state       text NOT NULL DEFAULT 'waiting'
                CHECK (state IN ('waiting', 'pending', 'delivered', 'failed', 'dropped')),
    tries       integer NOT NULL DEFAULT 0,
    -- What the receiver answered last.
    status      smallint,
    attempts    jsonb NOT NULL DEFAULT '[]',
    created_at  timestamptz NOT NULL DEFAULT now(),
    settled_at  timestamptz,
    CHECK ((state = 'waiting') = (row_no IS NULL)),
    CHECK ((stream_job IS NULL) = (row_no IS NULL)),
    CHECK ((state IN ('waiting', 'pending')) = (settled_at IS NULL))
) WITH (fillfactor = 70);

-- No event goes to an endpoint twice.
CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (endpoint_id, event_id)
    WHERE event_id IS NOT NULL;
CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (endpoint_id, id);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (id) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (id) WHERE state = 'pending';
CREATE UNIQUE INDEX webhook_deliveries_item ON webhook_deliveries (stream_job, row_no)
    WHERE row_no IS NOT NULL;
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (settled_at) WHERE settled_at IS NOT NULL;

-- The standing jobs whose items are deliveries: for each user with endpoints one that takes more.
CREATE TABLE webhook_streams (
    job_id    uuid PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    org_id    bigint NOT NULL REFERENCES orgs,
    user_id   bigint NOT NULL REFERENCES users,
    -- It has enough; it ends when what it has is delivered.
    closed_at timestamptz
);

CREATE UNIQUE INDEX webhook_streams_open ON webhook_streams (org_id, user_id)
    WHERE closed_at IS NULL;

-- How far events were looked at, in the order they were committed.
CREATE TABLE webhook_cursor (
    one      boolean PRIMARY KEY DEFAULT true CHECK (one),
    xid      xid8 NOT NULL DEFAULT pg_current_xact_id(),
    event_id bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

INSERT INTO webhook_cursor DEFAULT VALUES;

ALTER TABLE webhook_endpoints ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_streams ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_cursor ENABLE ROW LEVEL SECURITY;

-- All of an org see its endpoints; changing them would show other people's jobs.
CREATE POLICY own_org ON webhook_endpoints FOR SELECT TO penstock_api
    USING (org_id = (SELECT current_org()));
CREATE POLICY own_new ON webhook_endpoints FOR INSERT TO penstock_api
    WITH CHECK (org_id = (SELECT current_org())
                AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY own_rows ON webhook_endpoints FOR UPDATE TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY own_rows ON webhook_deliveries TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY all_orgs ON webhook_endpoints TO penstock_admin USING (true);
CREATE POLICY all_orgs ON webhook_deliveries TO penstock_admin USING (true);

GRANT SELECT, INSERT, UPDATE ON webhook_endpoints, webhook_deliveries
    TO penstock_api, penstock_admin;
