-- Orgs, people, files, jobs, items, leases, events. Every tenant table carries org_id.

CREATE TABLE orgs (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL UNIQUE CHECK (name ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$'),
    plan        text NOT NULL DEFAULT 'standard'
                CHECK (plan IN ('enterprise', 'premium', 'standard', 'basic', 'trial')),
    weight      smallint NOT NULL DEFAULT 2 CHECK (weight > 0),
    -- Running slices this org may hold; unset: as many as any org.
    max_slices  integer CHECK (max_slices > 0),
    shared_jobs boolean NOT NULL DEFAULT false,
    created_at  timestamptz NOT NULL DEFAULT now(),
    -- By which products of all sources are one; unset: rows match inside their own source.
    catalog_key text CHECK (catalog_key IN ('sku', 'gtin')),
    -- When that was changed last.
    catalog_key_at timestamptz
);

-- Virtual time apart from the org: it changes with every settle, the org hardly ever. Workers that
-- serve only some lanes, pipelines or stages are a pool of their own, and each pool shares its own
-- time; '' are the workers that serve everything.
CREATE TABLE org_time (
    org_id bigint NOT NULL REFERENCES orgs ON DELETE CASCADE,
    pool   text NOT NULL DEFAULT '',
    vt     double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, pool)
) WITH (fillfactor = 50);

-- Virtual time at the start of the last claim: an org that was idle starts there.
CREATE TABLE virtual_clock (
    pool text PRIMARY KEY DEFAULT '',
    v    double precision NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

INSERT INTO virtual_clock DEFAULT VALUES;

CREATE TABLE users (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id        bigint NOT NULL REFERENCES orgs,
    email         text NOT NULL UNIQUE,
    role          text NOT NULL CHECK (role IN ('admin', 'member', 'viewer')),
    created_at    timestamptz NOT NULL DEFAULT now(),
    disabled_at   timestamptz
);

CREATE TABLE api_keys (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id       bigint NOT NULL REFERENCES orgs,
    user_id      bigint NOT NULL REFERENCES users,
    hash         bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
    prefix       text NOT NULL,
    name         text NOT NULL DEFAULT '',
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    scopes       text[] NOT NULL DEFAULT '{read,write,admin}'
                 CHECK (scopes <@ ARRAY['read', 'write', 'admin'] AND 'read' = ANY (scopes)),
    last_used_at timestamptz
);

CREATE TABLE files (
    id         uuid PRIMARY KEY,
    org_id     bigint NOT NULL REFERENCES orgs,
    user_id    bigint NOT NULL REFERENCES users,
    name       text NOT NULL,
    media_type text NOT NULL,
    sha256     text NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    size       bigint NOT NULL CHECK (size >= 0),
    blob_key   text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX files_blob ON files (blob_key);

-- Blobs that something other than an upload is kept in: a picture, a page, an export. A blob that
-- neither `files` nor this table names is deleted.
CREATE TABLE blob_refs (
    blob_key   text NOT NULL,
    org_id     bigint NOT NULL REFERENCES orgs,
    kind       text NOT NULL,
    owner      text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (blob_key, org_id, kind, owner)
);

CREATE INDEX blob_refs_owner ON blob_refs (org_id, kind, owner);

CREATE TABLE jobs (
    id            uuid PRIMARY KEY,
    org_id        bigint NOT NULL REFERENCES orgs,
    user_id       bigint NOT NULL REFERENCES users,
    pipeline      text NOT NULL,
    name          text NOT NULL DEFAULT '',
    config        jsonb NOT NULL DEFAULT '{}',
    file_id       uuid REFERENCES files,
    ip            inet,
    state         text NOT NULL DEFAULT 'queued'
                  CHECK (state IN ('queued', 'running', 'cancelling', 'done', 'failed', 'cancelled')),
    -- What a cancelling job becomes once its open items are skipped, and why.
    ending        text CHECK (ending IN ('cancelled', 'failed')),
    paused        boolean NOT NULL DEFAULT false,
    standing      boolean NOT NULL DEFAULT false,
    priority      smallint NOT NULL DEFAULT 5 CHECK (priority BETWEEN 0 AND 100),
    lane          text NOT NULL,
    generation    integer NOT NULL DEFAULT 1,
    attempts      smallint NOT NULL DEFAULT 0,
    -- When the failures began that the job is tried again for; unset while nothing is wrong.
    first_failed_at timestamptz,
    last_error    jsonb,
    header        jsonb,
    context       jsonb NOT NULL DEFAULT '{}',
    -- Which cell of a row's input holds which label: {"title": 3}. Lists of rows show these.
    labels        jsonb NOT NULL DEFAULT '{}',
    summary       jsonb,
    -- The W3C trace context of the request that created it, if it had one.
    traceparent   text,
    -- The job whose results of the first stage this one began with.
    cached_from   uuid,
    -- Every row ended as it did in another job, which has them (`job_items`, `job_keys`) until they are
    -- copied.
    shared_from   uuid,
    ingest_done   boolean NOT NULL DEFAULT false,
    ingest_cursor jsonb,
    bytes_read    bigint NOT NULL DEFAULT 0,
    bytes_total   bigint NOT NULL DEFAULT 0,
    needs_finish  boolean NOT NULL DEFAULT false,
    has_barrier   boolean NOT NULL DEFAULT false,
    grouped       boolean NOT NULL DEFAULT false,
    -- The operation that is reopening items of this job, chunk by chunk. Until it has come to the end
    -- the job cannot be complete and no barrier opens. Apart from `ingest_done`, which says whether
    -- all rows are stored and must stay true if the job is cancelled meanwhile.
    reopening     uuid,
    -- Rows that had ended before this run of the job and do not run again: its rate is that of the others.
    kept_rows     integer NOT NULL DEFAULT 0,
    total         integer NOT NULL DEFAULT 0 CHECK (total >= 0),
    pending       integer NOT NULL DEFAULT 0 CHECK (pending >= 0),
    processing    integer NOT NULL DEFAULT 0 CHECK (processing >= 0),
    done          integer NOT NULL DEFAULT 0 CHECK (done >= 0),
    error         integer NOT NULL DEFAULT 0 CHECK (error >= 0),
    not_found     integer NOT NULL DEFAULT 0 CHECK (not_found >= 0),
    skipped       integer NOT NULL DEFAULT 0 CHECK (skipped >= 0),
    percent       real NOT NULL DEFAULT 0 CHECK (percent BETWEEN 0 AND 100),
    stage         text,
    seq           bigint NOT NULL DEFAULT 0,
    progress_at   timestamptz,
    -- Nothing of this job can be claimed before; never later than the truth.
    ready_at      timestamptz NOT NULL DEFAULT now(),
    due_at        timestamptz,
    served_at     timestamptz NOT NULL DEFAULT now(),
    -- The order of claims: when it was served last, and a second for each open row, of 64 at most.
    -- Small jobs overtake large ones, which are served every minute all the same.
    turn_at       timestamp GENERATED ALWAYS AS (served_at AT TIME ZONE 'UTC'
        + least(pending + processing, 64) * interval '1 second') STORED,
    heartbeat_at  timestamptz,
    created_at    timestamptz NOT NULL DEFAULT now(),
    -- When it was submitted, or reopened last.
    queued_at     timestamptz NOT NULL DEFAULT now(),
    started_at    timestamptz,
    finished_at   timestamptz,
    -- When its changes of products were undone last; null again once its rows run again.
    undone_at     timestamptz,
    updated_at    timestamptz NOT NULL DEFAULT now(),
    -- Since when its rows, and the before-images of its products, are deleted by retention.
    pruned_at     timestamptz,
    changes_pruned_at timestamptz,
    CHECK (total = pending + processing + done + error + not_found + skipped),
    CHECK ((state IN ('done', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
    CHECK (state NOT IN ('done', 'failed', 'cancelled') OR pending + processing = 0),
    CHECK ((state = 'cancelling') <= (ending IS NOT NULL))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);

CREATE INDEX jobs_claimable ON jobs (org_id, priority DESC, turn_at, id)
    WHERE state IN ('queued', 'running', 'cancelling') AND NOT paused;
CREATE INDEX jobs_ready ON jobs (org_id, ready_at)
    WHERE state IN ('queued', 'running', 'cancelling') AND NOT paused;
CREATE INDEX jobs_listed ON jobs (org_id, id);

-- Ingest (position -1), each stage, and finish (position 1000) of a live job.
CREATE TABLE job_stages (
    job_id    uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    position  smallint NOT NULL,
    org_id    bigint NOT NULL,
    kind      text NOT NULL CHECK (kind IN ('ingest', 'ranges', 'items', 'finish')),
    name      text NOT NULL,
    barrier   boolean NOT NULL DEFAULT false,
    -- Least time between the items of one group, and whether items of one group may run side by side.
    pace_ms   integer NOT NULL DEFAULT 0,
    ungrouped boolean NOT NULL DEFAULT false,
    -- Share of an item's way that lies before this stage.
    before    real NOT NULL DEFAULT 0,
    pending   integer NOT NULL DEFAULT 0 CHECK (pending >= 0),
    open      integer NOT NULL DEFAULT 0 CHECK (open >= pending),
    ready_at  timestamptz NOT NULL DEFAULT 'infinity',
    -- First stage only, which is filled in row order: no fresh item below this row is pending.
    floor     integer NOT NULL DEFAULT 0,
    avg_ms    real,
    avg_bytes real,
    -- Workers that died over the ingest or the finish.
    crashes   smallint NOT NULL DEFAULT 0,
    -- The first claim, and the last change that a worker wrote.
    started_at timestamptz,
    moved_at  timestamptz,
    PRIMARY KEY (job_id, position)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200);

-- Files of a job beyond its first one (`jobs.file_id`), in order.
CREATE TABLE job_files (
    job_id  uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    place   integer NOT NULL CHECK (place > 0),
    org_id  bigint NOT NULL,
    file_id uuid NOT NULL REFERENCES files,
    PRIMARY KEY (job_id, place)
);

CREATE INDEX job_files_file ON job_files (file_id);

-- A slice is the lease: its id is the fencing token.
CREATE TABLE slices (
    id          uuid PRIMARY KEY,
    kind        text NOT NULL CHECK (kind IN ('ingest', 'ranges', 'items', 'finish')),
    job_id      uuid NOT NULL,
    org_id      bigint NOT NULL,
    pipeline    text NOT NULL,
    stage       text NOT NULL,
    position    smallint NOT NULL,
    group_key   text,
    worker      text NOT NULL,
    pool        text NOT NULL DEFAULT '',
    -- Which rows it holds, so that an expired one is found without an index on job_items.
    row_nos     integer[] NOT NULL DEFAULT '{}',
    claimed_at  timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL,
    expected_ms double precision NOT NULL,
    vstart      double precision NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

CREATE INDEX slices_job ON slices (job_id);
CREATE UNIQUE INDEX slices_one_per_job ON slices (job_id, kind) WHERE kind IN ('ingest', 'finish');
CREATE UNIQUE INDEX slices_one_per_group ON slices (org_id, pipeline, stage, group_key)
    WHERE group_key IS NOT NULL;

-- Groups of stages with a pace: until when nothing of the group may start.
CREATE TABLE group_times (
    org_id    bigint NOT NULL REFERENCES orgs,
    pipeline  text NOT NULL,
    stage     text NOT NULL,
    group_key text NOT NULL,
    free_at   timestamptz NOT NULL,
    PRIMARY KEY (org_id, pipeline, stage, group_key)
) WITH (fillfactor = 50);

CREATE INDEX group_times_age ON group_times (free_at);

-- Counters per group of a job, where its pipeline asks for them.
CREATE TABLE group_counters (
    job_id    uuid NOT NULL,
    group_key text NOT NULL,
    counter   text NOT NULL,
    org_id    bigint NOT NULL REFERENCES orgs,
    value     bigint NOT NULL,
    PRIMARY KEY (job_id, group_key, counter)
) WITH (fillfactor = 50);

CREATE TABLE job_items (
    -- No foreign key: it would cost a check per row in the hottest write there is.
    job_id       uuid NOT NULL,
    row_no       integer NOT NULL CHECK (row_no > 0),
    org_id       bigint NOT NULL,
    user_id      bigint NOT NULL,
    job_type     text NOT NULL,
    stage        smallint NOT NULL DEFAULT 0,
    status       text NOT NULL DEFAULT 'PENDING'
                 CHECK (status IN ('PENDING', 'PROCESSING', 'DONE', 'ERROR', 'NOT_FOUND', 'SKIPPED')),
    generation   integer NOT NULL DEFAULT 1,
    attempts     smallint NOT NULL DEFAULT 0,
    crashes      smallint NOT NULL DEFAULT 0,
    solo_crashes smallint NOT NULL DEFAULT 0,
    slice_id     uuid,
    parent_row   integer,
    key          text,
    group_key    text,
    -- Set once an item waits for anything but its first turn.
    due_at       timestamptz,
    updated_at   timestamptz NOT NULL DEFAULT now(),
    input        jsonb NOT NULL,
    -- Only stored and shown: as json they are not parsed when they are written.
    normalized   json,
    result       json,
    error        jsonb,
    -- What the reader noticed of the row; kept however often it is worked through.
    noticed      jsonb,
    -- Those of the document. Small, and wanted without it: summaries and exports ask every row.
    problems     jsonb,
    PRIMARY KEY (job_id, row_no),
    CHECK ((status = 'PROCESSING') = (slice_id IS NOT NULL))
) WITH (fillfactor = 80, toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_threshold = 5000);

-- Most rows are written once, with their documents, which are cheapest inside of the row. Packing
-- them costs more than the space is worth. Pages end at a number of bytes: of what is not packed, the
-- size is known without reading it.
ALTER TABLE job_items ALTER COLUMN normalized SET STORAGE EXTERNAL;
ALTER TABLE job_items ALTER COLUMN input SET STORAGE EXTERNAL;
ALTER TABLE job_items ALTER COLUMN result SET STORAGE EXTERNAL;

CREATE INDEX items_fresh ON job_items (job_id, stage, row_no)
    WHERE status = 'PENDING' AND due_at IS NULL AND group_key IS NULL;
CREATE INDEX items_due ON job_items (job_id, stage, due_at, row_no)
    WHERE status = 'PENDING' AND due_at IS NOT NULL AND group_key IS NULL;
CREATE INDEX items_grouped ON job_items (job_id, stage, group_key, row_no)
    WHERE status = 'PENDING' AND group_key IS NOT NULL;
CREATE INDEX items_live ON job_items (job_id, updated_at, row_no)
    WHERE status IN ('PENDING', 'PROCESSING');
CREATE INDEX items_problem ON job_items (job_id, status, row_no)
    WHERE status IN ('ERROR', 'NOT_FOUND', 'SKIPPED');
-- … and what ended so last, or longest ago.
CREATE INDEX items_problem_age ON job_items (job_id, status, updated_at, row_no)
    WHERE status IN ('ERROR', 'NOT_FOUND', 'SKIPPED');
CREATE UNIQUE INDEX items_key ON job_items (job_id, key) WHERE key IS NOT NULL;
-- Failures of a group, in order: a pipeline may stop a group after some.
CREATE INDEX items_failed_in_group ON job_items (job_id, group_key, row_no)
    WHERE status = 'ERROR' AND group_key IS NOT NULL;

-- The job that has the items of a job: itself, or one that it shares them with.
CREATE FUNCTION rows_of(job uuid) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE COST 1
    RETURN coalesce((SELECT shared_from FROM jobs WHERE id = job), job);

-- Rows that were read but are not items yet, some thousand together. The first stage runs over a whole
-- range, and its rows become items in the state in which it leaves them. A job counts them as pending.
CREATE TABLE job_ranges (
    job_id    uuid NOT NULL,
    first_row integer NOT NULL CHECK (first_row > 0),
    org_id    bigint NOT NULL,
    rows      integer NOT NULL CHECK (rows > 0),
    -- The inputs as JSON, one a line.
    lines     bytea NOT NULL,
    -- What the reader noticed, by row number.
    noticed   jsonb,
    -- Rows that must wait for all others before the second stage; NULL: all.
    waiting   integer[],
    -- The lease that holds it.
    slice_id  uuid,
    -- Workers that died over it.
    crashes   smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (job_id, first_row)
) WITH (fillfactor = 50);

ALTER TABLE job_ranges ALTER COLUMN lines SET STORAGE EXTERNAL;

CREATE TABLE job_errors (
    job_id uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    org_id bigint NOT NULL,
    code   text NOT NULL,
    count  integer NOT NULL,
    PRIMARY KEY (job_id, code)
) WITH (fillfactor = 50);

CREATE TABLE events (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Readers over all jobs follow commit order: only what is older than every open transaction.
    xid        xid8 NOT NULL DEFAULT pg_current_xact_id(),
    org_id     bigint,
    job_id     uuid,
    seq        bigint,
    event      text NOT NULL,
    worker     text,
    data       jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    CHECK ((job_id IS NULL) = (seq IS NULL))
);

CREATE UNIQUE INDEX events_seq ON events (job_id, seq) WHERE job_id IS NOT NULL;
CREATE INDEX events_commit_order ON events (xid, id);
-- An org reads its own without passing everybody's.
CREATE INDEX events_of_org ON events (org_id, xid, id);

CREATE TABLE idempotency_keys (
    org_id       bigint NOT NULL REFERENCES orgs,
    user_id      bigint NOT NULL REFERENCES users,
    key          text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    request_hash bytea NOT NULL,
    job_id       uuid REFERENCES jobs ON DELETE CASCADE,
    response     text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    status       smallint NOT NULL DEFAULT 202,
    headers      jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (org_id, user_id, key)
);

CREATE TABLE workers (
    id           text PRIMARY KEY,
    host         text NOT NULL,
    pid          integer NOT NULL,
    slots        smallint NOT NULL,
    started_at   timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now(),
    stopped_at   timestamptz,
    -- What it says of itself: load, sizes, rates.
    figures      jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);

-- How full the queue is, as its watch saw it last.
CREATE TABLE intake (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    level      text NOT NULL DEFAULT 'healthy'
               CHECK (level IN ('healthy', 'degraded', 'critical', 'overload')),
    depth      bigint NOT NULL DEFAULT 0,
    since      timestamptz NOT NULL DEFAULT now(),
    checked_at timestamptz NOT NULL DEFAULT now(),
    alerted_at timestamptz,
    -- Leases that were taken back since the installation began.
    leases_taken_back bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

INSERT INTO intake DEFAULT VALUES;

CREATE TABLE audit (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id     bigint REFERENCES orgs,
    user_id    bigint REFERENCES users,
    action     text NOT NULL,
    target     text NOT NULL,
    ip         inet,
    before     jsonb,
    after      jsonb,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX audit_listed ON audit (org_id, id DESC);

-- A lane in here stands still: nothing of it is claimed until it is taken out.
CREATE TABLE paused_lanes (
    lane      text PRIMARY KEY,
    user_id   bigint REFERENCES users,
    reason    text NOT NULL DEFAULT '',
    paused_at timestamptz NOT NULL DEFAULT now()
);

-- Tenancy: the API's role sees the org it was given for this transaction, and nothing without one.
-- `penstock.owner` narrows it to one user's own rows.

CREATE FUNCTION current_org() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('penstock.org', true), '')::bigint;
CREATE FUNCTION current_owner() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('penstock.owner', true), '')::bigint;

ALTER TABLE orgs ENABLE ROW LEVEL SECURITY;
ALTER TABLE org_time ENABLE ROW LEVEL SECURITY;
ALTER TABLE virtual_clock ENABLE ROW LEVEL SECURITY;
ALTER TABLE users ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE files ENABLE ROW LEVEL SECURITY;
ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_stages ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_files ENABLE ROW LEVEL SECURITY;
ALTER TABLE blob_refs ENABLE ROW LEVEL SECURITY;
ALTER TABLE group_times ENABLE ROW LEVEL SECURITY;
ALTER TABLE group_counters ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_ranges ENABLE ROW LEVEL SECURITY;
ALTER TABLE slices ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_items ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_errors ENABLE ROW LEVEL SECURITY;
ALTER TABLE events ENABLE ROW LEVEL SECURITY;
ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
ALTER TABLE workers ENABLE ROW LEVEL SECURITY;
ALTER TABLE intake ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE paused_lanes ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_org ON orgs TO penstock_api USING (id = (SELECT current_org()));
CREATE POLICY own_org ON users TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_rows ON files TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY own_rows ON jobs TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY own_rows ON job_items TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY own_rows ON idempotency_keys TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
-- These hang on a job, which has its own policy; queries reach them through it.
CREATE POLICY own_org ON job_stages TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON group_counters TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON job_ranges TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON job_files TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON blob_refs TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON slices TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON job_errors TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON events TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON audit TO penstock_api USING (org_id = (SELECT current_org()));

CREATE POLICY all_orgs ON orgs TO penstock_admin USING (true);
CREATE POLICY all_orgs ON org_time TO penstock_admin USING (true);
CREATE POLICY all_orgs ON users TO penstock_admin USING (true);
CREATE POLICY all_orgs ON api_keys TO penstock_admin USING (true);
CREATE POLICY all_orgs ON files TO penstock_admin USING (true);
CREATE POLICY all_orgs ON jobs TO penstock_admin USING (true);
CREATE POLICY all_orgs ON job_stages TO penstock_admin USING (true);
CREATE POLICY all_orgs ON group_counters TO penstock_admin USING (true);
CREATE POLICY all_orgs ON job_ranges TO penstock_admin USING (true);
CREATE POLICY all_orgs ON job_files TO penstock_admin USING (true);
CREATE POLICY all_orgs ON blob_refs TO penstock_admin USING (true);
CREATE POLICY all_orgs ON slices TO penstock_admin USING (true);
CREATE POLICY all_orgs ON job_items TO penstock_admin USING (true);
CREATE POLICY all_orgs ON job_errors TO penstock_admin USING (true);
CREATE POLICY all_orgs ON events TO penstock_admin USING (true);
CREATE POLICY all_orgs ON idempotency_keys TO penstock_admin USING (true);
CREATE POLICY all_orgs ON workers TO penstock_admin USING (true);
CREATE POLICY all_orgs ON intake TO penstock_admin USING (true);
CREATE POLICY all_orgs ON audit TO penstock_admin USING (true);
-- The lane of an enterprise org carries its name, which is no other org's business.
CREATE POLICY own_org ON paused_lanes FOR SELECT TO penstock_api
    USING (lane NOT LIKE 'priority.%'
           OR lane = 'priority.' || (SELECT name FROM orgs WHERE id = (SELECT current_org())));
CREATE POLICY all_orgs ON paused_lanes TO penstock_admin USING (true);

GRANT SELECT ON orgs, users, files, blob_refs, group_counters, job_ranges, jobs, job_files, job_stages, slices, job_items, job_errors, events,
    idempotency_keys, audit TO penstock_api, penstock_admin;
GRANT SELECT (id, org_id, user_id, prefix, name, created_at, expires_at, revoked_at)
    ON api_keys TO penstock_api, penstock_admin;
GRANT SELECT ON workers, intake, org_time TO penstock_admin;
GRANT INSERT ON files, jobs, job_files, job_stages, job_items, job_errors, events, idempotency_keys, audit
    TO penstock_api, penstock_admin;
GRANT UPDATE ON jobs, job_stages, job_items, job_errors TO penstock_api, penstock_admin;
-- A row that is changed may be the same product as one of a range.
GRANT UPDATE (waiting) ON job_ranges TO penstock_api, penstock_admin;
-- Only to lock them in order before they are deleted.
GRANT UPDATE (expires_at) ON slices TO penstock_api, penstock_admin;
GRANT DELETE ON slices, job_ranges, idempotency_keys TO penstock_api, penstock_admin;

GRANT SELECT ON paused_lanes TO penstock_api, penstock_admin;
GRANT INSERT, DELETE ON paused_lanes TO penstock_admin;

CREATE INDEX jobs_depth ON jobs (state) WHERE state IN ('queued', 'running', 'cancelling');
CREATE INDEX jobs_recent ON jobs (finished_at DESC) WHERE state = 'done' AND started_at IS NOT NULL;

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

-- Dead letters: what failed for good, with all that is needed to judge it and to run it again.

CREATE TABLE dead_letters (
    id              uuid PRIMARY KEY,
    org_id          bigint NOT NULL REFERENCES orgs,
    user_id         bigint NOT NULL REFERENCES users,
    job_id          uuid NOT NULL,
    -- The one item of a standing job (a delivery) that failed for good; unset: the job itself.
    row_no          integer,
    pipeline        text NOT NULL,
    name            text NOT NULL,
    -- As long as there is a letter its file stays.
    file_id         uuid REFERENCES files,
    config          jsonb NOT NULL,
    priority        smallint NOT NULL,
    attempts        integer NOT NULL,
    code            text NOT NULL,
    message         text NOT NULL,
    details         jsonb NOT NULL DEFAULT '{}',
    -- For admins alone: the API's role has no right to this column.
    trace           text,
    signature       text COLLATE "C" NOT NULL,
    first_failed_at timestamptz NOT NULL,
    last_failed_at  timestamptz NOT NULL DEFAULT now(),
    state           text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'reprocessed', 'discarded')),
    new_job_id      uuid,
    reason          text,
    closed_by       bigint REFERENCES users,
    closed_at       timestamptz,
    CHECK ((state = 'open') = (closed_at IS NULL)),
    CHECK ((state = 'reprocessed') = (new_job_id IS NOT NULL)),
    CHECK ((state = 'discarded') = (reason IS NOT NULL))
);

-- Pages of one org, pages over all orgs, and what has one signature.
CREATE INDEX dead_letters_listed ON dead_letters (org_id, state, last_failed_at, id);
CREATE INDEX dead_letters_of_all ON dead_letters (state, last_failed_at, id);
CREATE INDEX dead_letters_alike ON dead_letters (signature, org_id, state, last_failed_at, id);
-- A failed job that is taken up again itself closes its letter.
CREATE INDEX dead_letters_of_job ON dead_letters (job_id) WHERE state = 'open';

-- How many letters of one signature are open: kept, because counting them would read them all.
CREATE TABLE dead_letter_groups (
    org_id          bigint NOT NULL REFERENCES orgs,
    signature       text COLLATE "C" NOT NULL,
    user_id         bigint NOT NULL REFERENCES users,
    open            integer NOT NULL CHECK (open >= 0),
    first_failed_at timestamptz NOT NULL,
    last_failed_at  timestamptz NOT NULL,
    newest          uuid NOT NULL,
    PRIMARY KEY (org_id, signature, user_id)
) WITH (fillfactor = 50);

CREATE INDEX dead_letter_groups_of_all ON dead_letter_groups (signature) WHERE open > 0;

ALTER TABLE dead_letters ENABLE ROW LEVEL SECURITY;
ALTER TABLE dead_letter_groups ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_rows ON dead_letters TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY own_rows ON dead_letter_groups TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY all_orgs ON dead_letters TO penstock_admin USING (true);
CREATE POLICY all_orgs ON dead_letter_groups TO penstock_admin USING (true);

GRANT SELECT (id, org_id, user_id, job_id, row_no, pipeline, name, file_id, config, priority,
              attempts, code, message, details, signature, first_failed_at, last_failed_at, state,
              new_job_id, reason, closed_by, closed_at)
    ON dead_letters TO penstock_api;
GRANT SELECT ON dead_letters TO penstock_admin;
GRANT SELECT ON dead_letter_groups TO penstock_api, penstock_admin;
GRANT UPDATE (state, new_job_id, reason, closed_by, closed_at) ON dead_letters
    TO penstock_api, penstock_admin;
GRANT UPDATE (open) ON dead_letter_groups TO penstock_api, penstock_admin;

-- Files that no job uses are looked for, oldest first.
CREATE INDEX files_age ON files (created_at, id);
CREATE INDEX jobs_file ON jobs (file_id) WHERE file_id IS NOT NULL;
CREATE INDEX dead_letters_file ON dead_letters (file_id) WHERE file_id IS NOT NULL;

-- The id of this installation, written into the folder of blobs: no other installation sweeps it.
CREATE TABLE installation (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id  uuid NOT NULL DEFAULT gen_random_uuid(),
    -- What places in lists are signed with. Two ids: 244 random bits.
    signing_key bytea NOT NULL
        DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
);

INSERT INTO installation DEFAULT VALUES;

ALTER TABLE installation ENABLE ROW LEVEL SECURITY;

-- Paused jobs are left out: no worker processes them, so they could keep a queue full forever.
-- Counting ends at `most`.
CREATE FUNCTION queue_state(most integer DEFAULT 20001)
    RETURNS TABLE (depth bigint, waiting bigint, active bigint, delayed bigint, oldest_ms double precision,
                   slots bigint, workers bigint, avg_job_ms double precision, level text,
                   since timestamptz, dead_letters bigint, lines jsonb)
    LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT q.depth, q.waiting, q.active, q.delayed, q.oldest_ms, w.slots, w.workers,
           (SELECT avg(extract(epoch FROM r.finished_at - r.started_at) * 1000)
                FROM (SELECT finished_at, started_at FROM jobs
                      WHERE state = 'done' AND started_at IS NOT NULL
                      ORDER BY finished_at DESC LIMIT 50) AS r),
           i.level, i.since, (SELECT coalesce(sum(open), 0) FROM dead_letter_groups),
           -- Waiting jobs of each org by priority: what is ahead of a new job.
           (SELECT jsonb_agg(jsonb_build_array(l.org_id, o.weight, l.priority, l.waiting))
            FROM (SELECT org_id, priority, count(*) AS waiting
                  FROM (SELECT org_id, priority FROM jobs
                        WHERE state IN ('queued', 'running', 'cancelling') AND NOT standing AND NOT paused
                          AND state = 'queued' AND coalesce(due_at <= now(), true)
                        LIMIT most) AS queued
                  GROUP BY org_id, priority) AS l JOIN orgs o ON o.id = l.org_id)
    FROM (SELECT count(*) AS depth,
                 count(*) FILTER (WHERE state = 'queued' AND NOT later) AS waiting,
                 count(*) FILTER (WHERE state <> 'queued') AS active,
                 count(*) FILTER (WHERE state = 'queued' AND later) AS delayed,
                 extract(epoch FROM now() - min(ready_at) FILTER (
                     WHERE state = 'queued' AND ready_at <= now())) * 1000 AS oldest_ms
          FROM (SELECT state, ready_at, coalesce(due_at > now(), false) AS later FROM jobs
                WHERE state IN ('queued', 'running', 'cancelling') AND NOT standing AND NOT paused
                LIMIT most) AS live) AS q,
         (SELECT coalesce(sum(slots), 0) AS slots, count(*) AS workers FROM workers
          WHERE stopped_at IS NULL AND heartbeat_at > now() - interval '10 seconds') AS w,
         intake AS i;
END;

REVOKE ALL ON FUNCTION queue_state(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION queue_state(integer) TO penstock_api, penstock_admin;

-- The catalog: products, what jobs changed of them, and the keys of a job's rows.

-- What lists of products are sorted by, and what products are found by. `catalog/products/keys.py` has
-- the same for products that are written in large numbers.
-- The first letters of a title, without accents; few titles have any.
CREATE FUNCTION title_key(title text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(title) = length(title) THEN nullif(lower(left(title, 24) COLLATE "C"), '')
    ELSE translate(lower(left(title, 24) COLLATE "C"),
    'ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöøùúûüýÿĄĆĘŁŃŚŹŻąćęłńśźżČĎĚŇŘŠŤŮŽčďěňřšťůž',
    'aaaaaaceeeeiiiinoooooouuuuyaaaaaaceeeeiiiinoooooouuuuyyacelnszzacelnszzcdenrstuzcdenrstuz') END;
CREATE FUNCTION price_key(amount text) RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN amount ~ '^-?[0-9]{1,15}(\.[0-9]{1,10})?$' THEN amount::double precision END;

-- Brand and MPN, which together name a product.
CREATE FUNCTION maker_key(data jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN left(lower(((data->>'brand') || chr(31) || (data->'identifiers'->>'mpn')) COLLATE "C"), 200);
-- Words of a title, the same in every locale: `catalog/lookup/words.py` splits queries like this.
CREATE FUNCTION title_words(title text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS $words$
BEGIN
    RETURN string_to_array(btrim(regexp_replace(translate(
        lower(title COLLATE "C"), 'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ'),
        '[\t-\r -/:-@\[-`{-~]+', ' ', 'g')), ' ');
END $words$;

CREATE TABLE products (
    id         uuid PRIMARY KEY,
    -- No foreign key: its check took a sixth of the time that a new product takes to write.
    org_id     bigint NOT NULL,
    source     text NOT NULL,
    source_id  text NOT NULL,
    -- In byte order, so that an index finds them by their first characters.
    sku        text COLLATE "C",
    gtin       text COLLATE "C",
    -- False: the supplier no longer has it.
    published  boolean NOT NULL DEFAULT true,
    version    integer NOT NULL DEFAULT 1,
    data       jsonb NOT NULL,
    -- Where each value came from: column or path, raw text, rule, confidence.
    lineage    json NOT NULL DEFAULT '{}',
    -- The row of a job that wrote it last.
    job_id     uuid NOT NULL,
    row_no     integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    -- Fields that a person has edited: imports leave them as they are. NULL: none.
    kept_fields text[],
    -- Of the row that wrote this version: a row with the same digest has nothing to change. NULL: unknown.
    row_digest bytea,
    -- What lists are sorted by and products are found by: functions of the document, written by every
    -- statement that writes the document. To compute them here, as generated columns or expressions of
    -- indexes, took a quarter of the time that a new product takes to write. And under row-level
    -- security an index finds rows by leakproof comparisons only, and `->>` is none.
    title_key  text COLLATE "C",
    price_key  double precision,
    maker      text COLLATE "C",
    words      text[],
    UNIQUE (org_id, source, source_id)
) WITH (fillfactor = 80, toast_tuple_target = 8160);

ALTER TABLE products ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE products ALTER COLUMN lineage SET STORAGE EXTERNAL;

CREATE INDEX products_sku ON products (org_id, sku, source) WHERE sku IS NOT NULL;
CREATE INDEX products_gtin ON products (org_id, gtin, source) WHERE gtin IS NOT NULL;
-- Brand and MPN: what links to products of other sources are proposed by.
CREATE INDEX products_maker ON products (org_id, maker, source) WHERE maker IS NOT NULL;
CREATE INDEX products_listed ON products (org_id, updated_at DESC, id DESC);

CREATE INDEX products_by_title ON products (org_id, title_key, id);
CREATE INDEX products_by_price ON products (org_id, price_key, id);

-- Lookups find products by words of their titles.
CREATE INDEX products_words ON products USING gin (words);
-- … and by the addresses of their pictures.
CREATE INDEX products_images ON products USING gin ((data->'images') jsonb_path_ops)
    WHERE data->'images' IS NOT NULL;

-- Before-images: what a job found before it changed a product, once per job and product.
CREATE TABLE product_changes (
    job_id     uuid NOT NULL,
    product_id uuid NOT NULL,
    org_id     bigint NOT NULL,
    row_no     integer NOT NULL,
    -- The whole row as it was; NULL: there was none.
    before     jsonb,
    -- The version this job left; another one means that someone changed it since.
    version    integer NOT NULL,
    -- When `before` was taken: an undo of an edit takes back what began with the edit.
    began_at   timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    undone_at  timestamptz,
    -- What an undo took back.
    after      jsonb,
    -- Of a job whose rows ran again after others had changed the product: what it was before the runs
    -- before the last, in their order, each with the version that run left.
    earlier    jsonb,
    PRIMARY KEY (job_id, product_id)
);

CREATE INDEX product_changes_history ON product_changes (product_id, changed_at DESC);
-- Versions that an undo removed are not used again, so that two states never share a version.
-- Whether the catalog of an org changed.
CREATE INDEX product_changes_undone_at ON product_changes (org_id, undone_at) WHERE undone_at IS NOT NULL;
CREATE INDEX product_changes_undone ON product_changes (product_id, version) WHERE undone_at IS NOT NULL;

-- Edits of products by hand. Each is a row of product_changes, too, under its own id.
CREATE TABLE product_edits (
    id         uuid PRIMARY KEY,
    org_id     bigint NOT NULL,
    product_id uuid NOT NULL,
    user_id    bigint NOT NULL REFERENCES users,
    -- A list of field, before and after.
    changes    jsonb NOT NULL,
    -- The edit that this one sets back.
    undoes     uuid,
    edited_at  timestamptz NOT NULL DEFAULT now(),
    undone_at  timestamptz
);

CREATE INDEX product_edits_product ON product_edits (product_id);
ALTER TABLE product_edits ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON product_edits TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON product_edits TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE ON product_edits TO penstock_api, penstock_admin;

-- What a job's rows call themselves (SKU, GTIN, source id), to find the same product twice in one
-- file. Kept with the job: a row that is fixed later is compared again.
CREATE TABLE job_keys (
    job_id uuid NOT NULL,
    row_no integer NOT NULL,
    key    text NOT NULL,
    org_id bigint NOT NULL,
    -- How many fields the row fills, to choose the most complete row.
    filled smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (job_id, row_no, key)
);

CREATE INDEX job_keys_found ON job_keys (job_id, key, row_no);
CREATE INDEX jobs_shared_from ON jobs (shared_from) WHERE shared_from IS NOT NULL;

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

-- Products that a job's file lacks, where the job was asked to tell.
CREATE TABLE job_missing (
    job_id      uuid NOT NULL,
    source_id   text NOT NULL,
    org_id      bigint NOT NULL,
    product_id  uuid NOT NULL,
    sku         text,
    gtin        text,
    title       text,
    unpublished boolean NOT NULL,
    PRIMARY KEY (job_id, source_id)
);

ALTER TABLE job_missing ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON job_missing TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON job_missing TO penstock_admin USING (true);
GRANT SELECT ON job_missing TO penstock_api, penstock_admin;

ALTER TABLE products ENABLE ROW LEVEL SECURITY;
ALTER TABLE product_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON products TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON product_changes TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON job_keys TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON products TO penstock_admin USING (true);
CREATE POLICY all_orgs ON product_changes TO penstock_admin USING (true);
CREATE POLICY all_orgs ON job_keys TO penstock_admin USING (true);
GRANT SELECT ON products, product_changes, job_keys TO penstock_api, penstock_admin;
-- A job that runs again gets its own copy of names that it shares with another.
GRANT INSERT ON job_keys TO penstock_api, penstock_admin;
-- Undoing a job puts products back as they were.
GRANT INSERT, UPDATE, DELETE ON products TO penstock_api, penstock_admin;
GRANT INSERT, UPDATE ON product_changes TO penstock_api, penstock_admin;
-- Reprocessing, and operations over many jobs that go on in the background.

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
    USING (org_id = (SELECT current_org()) AND scope_org = org_id
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY all_orgs ON bulk_operations TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE ON bulk_operations TO penstock_api, penstock_admin;

-- Edits of rows of a job, so that they can be listed and undone. `user_id` owns the job.

CREATE TABLE job_edits (
    -- Of the bulk operation that carries it out, where there is one.
    id         uuid PRIMARY KEY,
    job_id     uuid NOT NULL,
    org_id     bigint NOT NULL REFERENCES orgs,
    user_id    bigint NOT NULL REFERENCES users,
    edited_by  bigint NOT NULL REFERENCES users,
    selection  jsonb NOT NULL,
    change     jsonb NOT NULL,
    rows       integer NOT NULL DEFAULT 0 CHECK (rows >= 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    undone_at  timestamptz
);

CREATE INDEX job_edits_listed ON job_edits (job_id, id);

-- The cells that an edit changed, as they were before and after it. A row without such cells ran again
-- because it shares a name with an edited row.
CREATE TABLE job_edit_rows (
    edit_id uuid NOT NULL,
    row_no  integer NOT NULL CHECK (row_no > 0),
    job_id  uuid NOT NULL,
    org_id  bigint NOT NULL,
    before  jsonb NOT NULL,
    after   jsonb NOT NULL,
    PRIMARY KEY (edit_id, row_no)
);

CREATE INDEX job_edit_rows_of_job ON job_edit_rows (job_id, row_no);

ALTER TABLE job_edits ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_edit_rows ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON job_edits TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY own_org ON job_edit_rows TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON job_edits TO penstock_admin USING (true);
CREATE POLICY all_orgs ON job_edit_rows TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE ON job_edits TO penstock_api, penstock_admin;
GRANT SELECT, INSERT ON job_edit_rows TO penstock_api, penstock_admin;

-- What unreadable words of a supplier's files mean, by field: "Auslauf" of the stock is "0". An empty
-- value leaves the field empty without a warning. Words are stored in small letters.

CREATE TABLE saved_values (
    org_id     bigint NOT NULL REFERENCES orgs,
    source     text NOT NULL CHECK (length(source) BETWEEN 1 AND 200),
    field      text NOT NULL,
    word       text NOT NULL CHECK (length(word) BETWEEN 1 AND 200),
    value      text NOT NULL CHECK (length(value) <= 200),
    user_id    bigint NOT NULL REFERENCES users,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, source, field, word)
);

ALTER TABLE saved_values ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON saved_values TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON saved_values TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON saved_values TO penstock_api, penstock_admin;

-- Pairs of products of two sources that a person has decided on: the same article, or not. A pair is
-- kept by the names of its products, so that a decision holds when a product is deleted and comes back.

CREATE TABLE product_links (
    -- Made from the org and both names (`model/products.py`), the same in either order.
    id              uuid PRIMARY KEY,
    org_id          bigint NOT NULL,
    source          text NOT NULL,
    source_id       text NOT NULL,
    other_source    text NOT NULL,
    other_source_id text NOT NULL,
    -- `undone`: proposed again.
    state           text NOT NULL CHECK (state IN ('accepted', 'refused', 'undone')),
    -- What the products shared when it was decided.
    by              text NOT NULL CHECK (by IN ('gtin', 'mpn', 'manual')),
    user_id         bigint NOT NULL REFERENCES users,
    decided_at      timestamptz NOT NULL DEFAULT now(),
    CHECK (source <> other_source)
);

CREATE INDEX product_links_first ON product_links (org_id, source, source_id);
CREATE INDEX product_links_second ON product_links (org_id, other_source, other_source_id);
CREATE INDEX product_links_decided ON product_links (org_id, decided_at DESC, id DESC);

ALTER TABLE product_links ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON product_links TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON product_links TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE ON product_links TO penstock_api, penstock_admin;

-- Which columns an export has, in which order and by which names.

CREATE TABLE export_templates (
    org_id     bigint NOT NULL REFERENCES orgs,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    body       jsonb NOT NULL,
    user_id    bigint NOT NULL REFERENCES users,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, name)
);

ALTER TABLE export_templates ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON export_templates TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON export_templates TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON export_templates TO penstock_api, penstock_admin;

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
GRANT SELECT, INSERT, UPDATE (deleted_at), DELETE ON profiles TO penstock_api, penstock_admin;
GRANT SELECT ON rates TO penstock_api, penstock_admin;
GRANT INSERT, UPDATE ON rates TO penstock_admin;

-- Old keys are forgotten some at a time, oldest first.
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);

-- Of the rows of one name, the most complete is found without looking at all of them.
CREATE INDEX job_keys_most_complete ON job_keys (job_id, key, filled DESC, row_no);

-- The latest time the installation has seen. A clock that says less has been set back, and what was
-- to happen soon would wait for as long as that.
CREATE TABLE clock (
    one  boolean PRIMARY KEY DEFAULT true CHECK (one),
    seen timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 10);

INSERT INTO clock DEFAULT VALUES;

ALTER TABLE clock ENABLE ROW LEVEL SECURITY;

-- Signing in: passwords, sessions, what a key may do, and how often someone has tried.

CREATE FUNCTION current_actor() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('penstock.user', true), '')::bigint;

-- Addresses are compared without regard to case.

-- A table of its own, so that access to users gives no access to hashes.
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

-- Failed tries to sign in of the last hour, by account and by network, both as hashes: what is
-- typed into the wrong field may be a password.
CREATE TABLE sign_in_tries (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account bytea NOT NULL,
    at      timestamptz NOT NULL DEFAULT now(),
    network bytea NOT NULL
);

CREATE INDEX sign_in_tries_account ON sign_in_tries (account, at DESC);
CREATE INDEX sign_in_tries_age ON sign_in_tries (at);
CREATE INDEX sign_in_tries_network ON sign_in_tries (network, at DESC);

-- Networks from which an account was signed in to: others' failed tries do not shut them out.
CREATE TABLE sign_in_networks (
    account bytea NOT NULL,
    network bytea NOT NULL,
    at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (account, network)
);

CREATE INDEX sign_in_networks_age ON sign_in_networks (at);

CREATE INDEX api_keys_user ON api_keys (user_id, id);

-- The whole installation's changes, those of one person, and those of one thing, newest first.
CREATE INDEX audit_of_user ON audit (user_id, id DESC);
CREATE INDEX audit_of_target ON audit (target, id DESC);
CREATE INDEX audit_of_action ON audit (action, id DESC);

ALTER TABLE passwords ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessions ENABLE ROW LEVEL SECURITY;
ALTER TABLE sign_in_tries ENABLE ROW LEVEL SECURITY;
ALTER TABLE sign_in_networks ENABLE ROW LEVEL SECURITY;

-- Of keys, passwords and sessions everyone has their own, whether or not the org shares its jobs.
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
CREATE POLICY everyone ON sign_in_networks TO penstock_api USING (true);
-- An admin who resets a password forgives the tries with the old one.
CREATE POLICY all_orgs ON sign_in_tries TO penstock_admin USING (true);
CREATE POLICY all_orgs ON virtual_clock FOR SELECT TO penstock_admin USING (true);

GRANT SELECT (scopes, last_used_at) ON api_keys TO penstock_api, penstock_admin;
GRANT INSERT (org_id, user_id, hash, prefix, name, expires_at, scopes), UPDATE (revoked_at)
    ON api_keys TO penstock_api, penstock_admin;
GRANT SELECT (user_id, org_id, changed_at), INSERT (user_id, org_id, hash),
    UPDATE (hash, changed_at) ON passwords TO penstock_api, penstock_admin;
GRANT SELECT (id, org_id, user_id, ip, agent, created_at, seen_at, idle_until, expires_at),
    INSERT (id, org_id, user_id, hash, ip, agent, idle_until, expires_at), DELETE
    ON sessions TO penstock_api, penstock_admin;
GRANT SELECT, INSERT (account, network), DELETE ON sign_in_tries TO penstock_api;
GRANT SELECT, INSERT (account, network), UPDATE (at) ON sign_in_networks TO penstock_api;
GRANT SELECT, DELETE ON sign_in_tries TO penstock_admin;
GRANT INSERT (org_id, email, role), UPDATE (role, disabled_at) ON users TO penstock_admin;
GRANT INSERT (name, plan, weight), UPDATE (plan, weight, max_slices, shared_jobs, catalog_key, catalog_key_at) ON orgs
    TO penstock_admin;
GRANT INSERT ON org_time TO penstock_admin;
GRANT SELECT ON virtual_clock TO penstock_admin;

-- What the API needs across orgs: these return just that and nothing else.
-- `unused`: the time of last use is more than a minute old.
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
    WHERE u.email = address AND u.disabled_at IS NULL;
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

-- Webhooks: where an org wants to be told of what happens, and what became of each telling.

CREATE TABLE webhook_endpoints (
    id              uuid PRIMARY KEY,
    org_id          bigint NOT NULL REFERENCES orgs,
    -- The user who created it: it receives events of the jobs that this user may see.
    user_id         bigint NOT NULL REFERENCES users,
    url             text NOT NULL CHECK (length(url) <= 4096),
    description     text NOT NULL DEFAULT '' CHECK (length(description) <= 500),
    events          text[] NOT NULL CHECK (cardinality(events) BETWEEN 1 AND 50),
    enabled         boolean NOT NULL DEFAULT true,
    -- The `webhookUrl` of research requests: it gets the ends of their jobs, signed with the org's
    -- secret.
    for_requests    boolean NOT NULL DEFAULT false,
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
CREATE UNIQUE INDEX webhook_endpoints_of_requests ON webhook_endpoints (org_id, user_id, md5(url))
    WHERE for_requests AND deleted_at IS NULL;

-- One event for one endpoint, and the result.
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

-- The standing jobs whose items are deliveries or notifications: for each user that has such one that
-- takes more.
CREATE TABLE webhook_streams (
    job_id    uuid PRIMARY KEY REFERENCES jobs ON DELETE CASCADE,
    pipeline  text NOT NULL,
    org_id    bigint NOT NULL REFERENCES orgs,
    user_id   bigint NOT NULL REFERENCES users,
    -- It has enough; it ends when what it has is delivered.
    closed_at timestamptz
);

CREATE UNIQUE INDEX webhook_streams_open ON webhook_streams (pipeline, org_id, user_id)
    WHERE closed_at IS NULL;

-- How far each follower has read the events, in the order they were committed.
CREATE TABLE event_cursors (
    name     text PRIMARY KEY,
    xid      xid8 NOT NULL DEFAULT pg_current_xact_id(),
    event_id bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

INSERT INTO event_cursors (name) VALUES ('webhooks');

ALTER TABLE webhook_endpoints ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE webhook_streams ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_cursors ENABLE ROW LEVEL SECURITY;

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

-- Shops that an org has connected.
CREATE TABLE connections (
    id          uuid PRIMARY KEY,
    org_id      bigint NOT NULL REFERENCES orgs,
    -- The user who created it. All users of the org may use it; this user and admins change it.
    user_id     bigint NOT NULL REFERENCES users,
    provider    text NOT NULL CHECK (length(provider) BETWEEN 1 AND 50),
    name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    address     text NOT NULL CHECK (length(address) BETWEEN 1 AND 1000),
    -- Sealed JSON; empty after the connection was deleted.
    credentials bytea NOT NULL,
    -- What the last successful test found out about the shop, such as its currency.
    details     jsonb NOT NULL DEFAULT '{}',
    tested_at   timestamptz,
    -- Why the last test or import could not reach the shop: code and message.
    error       jsonb,
    -- The last import that completed, and where the next incremental one begins.
    synced_at   timestamptz,
    last_job    uuid,
    next_since  timestamptz,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    deleted_at  timestamptz,
    CHECK (deleted_at IS NULL OR credentials = '')
);

CREATE INDEX connections_listed ON connections (org_id, id) WHERE deleted_at IS NULL;

ALTER TABLE connections ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_org ON connections FOR SELECT TO penstock_api
    USING (org_id = (SELECT current_org()));
CREATE POLICY own_new ON connections FOR INSERT TO penstock_api
    WITH CHECK (org_id = (SELECT current_org())
                AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
-- A test by any user of the org stores its result.
CREATE POLICY own_rows ON connections FOR UPDATE TO penstock_api
    USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON connections TO penstock_admin USING (true);

GRANT SELECT, INSERT, UPDATE ON connections TO penstock_api, penstock_admin;

-- Product APIs that are described by configuration.
CREATE TABLE sources (
    id          uuid PRIMARY KEY,
    org_id      bigint NOT NULL REFERENCES orgs,
    -- The user who created it. All users of the org may use it; this user and admins change it.
    user_id     bigint NOT NULL REFERENCES users,
    name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 63),
    enabled     boolean NOT NULL DEFAULT true,
    -- The configuration without credentials.
    config      jsonb NOT NULL,
    -- The rate of the configuration, for lists of limits.
    rate        text NOT NULL,
    -- Sealed JSON; empty after the source was deleted.
    credentials bytea NOT NULL,
    tested_at   timestamptz,
    -- Why the last test failed: code and message.
    error       jsonb,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    deleted_at  timestamptz,
    CHECK (deleted_at IS NULL OR credentials = '')
);

CREATE UNIQUE INDEX sources_by_name ON sources (org_id, name) WHERE deleted_at IS NULL;

ALTER TABLE sources ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_org ON sources FOR SELECT TO penstock_api
    USING (org_id = (SELECT current_org()));
CREATE POLICY own_new ON sources FOR INSERT TO penstock_api
    WITH CHECK (org_id = (SELECT current_org())
                AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
-- A test by any user of the org stores its result.
CREATE POLICY own_rows ON sources FOR UPDATE TO penstock_api
    USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON sources TO penstock_admin USING (true);

GRANT SELECT, INSERT, UPDATE ON sources TO penstock_api, penstock_admin;

-- Attempts of research requests: a retry is another job of the same request.
CREATE TABLE research_requests (
    org_id      bigint NOT NULL REFERENCES orgs,
    request_id  text NOT NULL CHECK (length(request_id) BETWEEN 1 AND 100),
    job_id      uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    -- Where the end of the job is posted to.
    endpoint_id uuid REFERENCES webhook_endpoints,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id)
);

CREATE INDEX research_requests_attempts ON research_requests (org_id, request_id, created_at);

-- Research requests of users and orgs (user 0) in each day and month.
CREATE TABLE research_usage (
    org_id   bigint NOT NULL REFERENCES orgs,
    user_id  bigint NOT NULL,
    period   text NOT NULL,
    requests integer NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, user_id, period)
);

-- Limits of research requests that differ from the settings; NULL: as it is set.
CREATE TABLE research_quotas (
    org_id     bigint PRIMARY KEY REFERENCES orgs,
    user_day   integer CHECK (user_day >= 0),
    user_month integer CHECK (user_month >= 0),
    org_day    integer CHECK (org_day >= 0),
    org_month  integer CHECK (org_month >= 0)
);

-- Research requests that an org has saved, by their name.
CREATE TABLE research_queries (
    org_id     bigint NOT NULL REFERENCES orgs,
    name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    request    json NOT NULL,
    user_id    bigint NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, name)
);

-- When the next job of a kind may begin in this installation.
CREATE TABLE job_pace (
    meter   text PRIMARY KEY,
    next_at timestamptz NOT NULL
);

-- The secret that signs webhooks of requests, sealed.
CREATE TABLE org_secrets (
    org_id bigint PRIMARY KEY REFERENCES orgs,
    secret bytea NOT NULL
);

ALTER TABLE research_requests ENABLE ROW LEVEL SECURITY;
ALTER TABLE research_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE research_quotas ENABLE ROW LEVEL SECURITY;
ALTER TABLE research_queries ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_pace ENABLE ROW LEVEL SECURITY;
ALTER TABLE org_secrets ENABLE ROW LEVEL SECURITY;

CREATE POLICY own_org ON research_requests FOR SELECT TO penstock_api
    USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON research_requests TO penstock_admin USING (true);
CREATE POLICY own_org ON research_usage TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON research_usage TO penstock_admin USING (true);
CREATE POLICY own_org ON research_quotas FOR SELECT TO penstock_api
    USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON research_quotas TO penstock_admin USING (true);
CREATE POLICY own_org ON research_queries TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON research_queries TO penstock_admin USING (true);
CREATE POLICY all_meters ON job_pace TO penstock_api, penstock_admin USING (true);
CREATE POLICY own_org ON org_secrets TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON org_secrets TO penstock_admin USING (true);

GRANT SELECT ON research_requests TO penstock_api, penstock_admin;
GRANT SELECT, INSERT, UPDATE ON research_usage, job_pace, org_secrets TO penstock_api, penstock_admin;
GRANT SELECT ON research_quotas TO penstock_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON research_queries TO penstock_api, penstock_admin;
GRANT SELECT, INSERT, UPDATE ON research_quotas TO penstock_admin;

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

-- Jobs that an operation is reopening: few at a time, and looked for often.
CREATE INDEX jobs_reopening ON jobs (id) WHERE reopening IS NOT NULL;

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

-- Token bucket and circuit of calls to a provider, shared by all workers.
CREATE TABLE provider_states (
    org_id           bigint NOT NULL REFERENCES orgs,
    provider         text NOT NULL,
    company          text NOT NULL,
    domain           text NOT NULL,
    tokens           double precision NOT NULL,
    refilled_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The provider's own words about its bucket.
    reported_rate    double precision,
    reported_burst   double precision,
    paused_until     timestamptz,
    booked_until     timestamptz,
    -- What calls cost in the end, as a share of the tokens that they take first.
    cost_share       double precision CHECK (cost_share > 0 AND cost_share <= 1),
    -- What calls took that have not ended, and until when they are believed to be under way.
    in_flight        double precision NOT NULL DEFAULT 0 CHECK (in_flight >= 0),
    in_flight_until  timestamptz,
    -- When calls were last told to have ended.
    landed_at        timestamptz,
    circuit          text NOT NULL DEFAULT 'closed' CHECK (circuit IN ('closed', 'open', 'half_open')),
    failures         integer NOT NULL DEFAULT 0,
    last_failure_at  timestamptz,
    opened_at        timestamptz,
    next_probe_at    timestamptz,
    probe_id         text,
    probe_expires_at timestamptz,
    -- Counts changes: a process that knows the state writes the next one if it is still the same.
    version          integer NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, provider, company, domain),
    CHECK ((reported_rate IS NULL) = (reported_burst IS NULL)),
    CHECK (circuit <> 'half_open' OR probe_id IS NOT NULL)
) WITH (fillfactor = 50);

-- Calls to a provider by the minute; durations are counted by class.
CREATE TABLE provider_calls (
    org_id    bigint NOT NULL REFERENCES orgs,
    provider  text NOT NULL,
    company   text NOT NULL,
    domain    text NOT NULL,
    minute    timestamptz NOT NULL,
    calls     integer NOT NULL,
    failed    integer NOT NULL,
    throttled integer NOT NULL,
    durations integer[] NOT NULL,
    PRIMARY KEY (org_id, provider, company, domain, minute)
) WITH (fillfactor = 50);

CREATE INDEX provider_calls_age ON provider_calls (minute);

ALTER TABLE provider_states ENABLE ROW LEVEL SECURITY;
ALTER TABLE provider_calls ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON provider_states TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON provider_calls TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON provider_states TO penstock_admin USING (true);
CREATE POLICY all_orgs ON provider_calls TO penstock_admin USING (true);
GRANT SELECT, UPDATE ON provider_states TO penstock_api, penstock_admin;
GRANT SELECT ON provider_calls TO penstock_api, penstock_admin;

-- Pictures of products that were downloaded, by URL. Blobs are referenced in blob_refs.
CREATE TABLE pictures (
    org_id     bigint NOT NULL REFERENCES orgs,
    -- SHA-256 of the URL, which may be long.
    url_hash   text NOT NULL,
    url        text NOT NULL,
    blob_key   text NOT NULL,
    sha256     text NOT NULL,
    size       bigint NOT NULL,
    width      integer,
    height     integer,
    -- Blob keys by the size of the box that the thumbnail fits into.
    thumbnails jsonb NOT NULL DEFAULT '{}',
    -- Perceptual hashes of 64 bits each, in hexadecimal digits, and their bands (`hash_bands`).
    phash      text CHECK (length(phash) = 16),
    dhash      text CHECK (length(dhash) = 16),
    bands      integer[],
    job_id     uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, url_hash)
);

CREATE INDEX pictures_content ON pictures (org_id, sha256);

-- Both hashes in bands of 16 bits, each with its number in front: pictures that look alike share one.
CREATE FUNCTION hash_bands(phash text, dhash text) RETURNS integer[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN ARRAY(SELECT (n - 1) * 65536 + ('x' || substr(phash || dhash, 4 * n - 3, 4))::bit(16)::integer
             FROM generate_series(1, 8) AS n);

CREATE INDEX pictures_bands ON pictures USING gin (bands) WHERE bands IS NOT NULL;

ALTER TABLE pictures ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON pictures TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON pictures TO penstock_admin USING (true);
GRANT SELECT ON pictures TO penstock_api, penstock_admin;

-- What was searched for items of lookups: by which provider, how, and the result.
CREATE TABLE search_events (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id     bigint NOT NULL REFERENCES orgs,
    job_id     uuid NOT NULL,
    row_no     integer NOT NULL,
    -- Of the item, when it was searched: an item that is reopened is searched again.
    generation integer NOT NULL,
    -- Number of the try, from 0.
    attempt    smallint NOT NULL,
    provider   text NOT NULL,
    variant    text NOT NULL,
    query      text NOT NULL,
    outcome    text NOT NULL CHECK (outcome IN ('found', 'ambiguous', 'weak', 'notFound', 'failed')),
    -- Confidence in the best candidate, from 0 to 1.
    score      real,
    candidates integer NOT NULL,
    latency_ms real NOT NULL,
    error      jsonb,
    -- What a source answered, so that it is not asked again.
    answer     jsonb,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX search_events_item ON search_events (job_id, row_no, id);

ALTER TABLE search_events ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON search_events TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON search_events TO penstock_admin USING (true);
GRANT SELECT ON search_events TO penstock_api, penstock_admin;

-- Pages of companies' sites, by URL. Raw pages are blobs, referenced in blob_refs by their version.
CREATE TABLE pages (
    id            uuid PRIMARY KEY,
    org_id        bigint NOT NULL REFERENCES orgs,
    company       text NOT NULL,
    -- SHA-256 of the URL, which may be long.
    url_hash      text NOT NULL,
    url           text NOT NULL,
    state         text NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'expired')),
    -- The newest version that is kept.
    version       integer NOT NULL,
    -- What the server said of the newest content, for conditional requests.
    etag          text,
    last_modified text,
    job_id        uuid NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    checked_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (org_id, company, url_hash)
);

CREATE INDEX pages_listed ON pages (org_id, id);

CREATE TABLE page_versions (
    page_id      uuid NOT NULL REFERENCES pages ON DELETE CASCADE,
    version      integer NOT NULL,
    org_id       bigint NOT NULL,
    job_id       uuid NOT NULL,
    row_no       integer NOT NULL,
    final_url    text NOT NULL,
    content_type text,
    blob_key     text NOT NULL,
    -- Of the page itself; the blob is compressed.
    sha256       text NOT NULL,
    size         bigint NOT NULL,
    simhash      bigint,
    -- What was extracted, by which version of the extractor.
    kind         text CHECK (kind IN ('product', 'job')),
    fields       json,
    lineage      json,
    digest       text,
    extractor    text,
    fetched_at   timestamptz NOT NULL DEFAULT now(),
    extracted_at timestamptz,
    PRIMARY KEY (page_id, version)
);

-- The rules of robots.txt that apply to our user agent, by origin.
CREATE TABLE robots_rules (
    org_id     bigint NOT NULL REFERENCES orgs,
    origin     text NOT NULL,
    user_agent text NOT NULL,
    rules      json NOT NULL,
    fetched_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (org_id, origin)
);

CREATE INDEX robots_rules_age ON robots_rules (fetched_at);

-- Job postings that were extracted from pages.
CREATE TABLE postings (
    id           uuid PRIMARY KEY,
    org_id       bigint NOT NULL REFERENCES orgs,
    page_id      uuid NOT NULL REFERENCES pages ON DELETE CASCADE,
    company      text NOT NULL,
    url          text NOT NULL,
    title        text NOT NULL,
    -- What a search looks at: title, employer and locations, in lower case.
    words        text NOT NULL,
    data         json NOT NULL,
    lineage      json NOT NULL,
    state        text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'expired')),
    date_posted  date,
    valid_through date,
    -- Grows with each change.
    version      integer NOT NULL DEFAULT 1,
    job_id       uuid NOT NULL,
    row_no       integer NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (org_id, page_id)
);

CREATE INDEX postings_listed ON postings (org_id, id);

-- Before-images: what a run found before it changed a posting, once per run and posting.
CREATE TABLE posting_changes (
    job_id     uuid NOT NULL,
    posting_id uuid NOT NULL,
    org_id     bigint NOT NULL REFERENCES orgs,
    -- The row that changed it last; none where its page was gone.
    row_no     integer,
    -- The version that the run has made.
    version    integer NOT NULL,
    -- The posting before; null: the run has made it.
    before     json,
    undone_at  timestamptz,
    PRIMARY KEY (job_id, posting_id)
);

ALTER TABLE pages ENABLE ROW LEVEL SECURITY;
ALTER TABLE page_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE robots_rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE postings ENABLE ROW LEVEL SECURITY;
ALTER TABLE posting_changes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON pages TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON page_versions TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON robots_rules TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON postings TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON posting_changes TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON pages TO penstock_admin USING (true);
CREATE POLICY all_orgs ON page_versions TO penstock_admin USING (true);
CREATE POLICY all_orgs ON robots_rules TO penstock_admin USING (true);
CREATE POLICY all_orgs ON postings TO penstock_admin USING (true);
CREATE POLICY all_orgs ON posting_changes TO penstock_admin USING (true);
GRANT SELECT ON pages, page_versions, robots_rules, postings, posting_changes
    TO penstock_api, penstock_admin;
-- Undo restores postings; pages and postings are deleted by users, with what pages keep in blobs.
GRANT UPDATE ON postings, posting_changes TO penstock_api, penstock_admin;
GRANT DELETE ON pages, postings, blob_refs TO penstock_api, penstock_admin;

-- How long an org keeps things, where it differs from the settings.
CREATE TABLE retention_policies (
    org_id     bigint PRIMARY KEY REFERENCES orgs,
    policy     jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE retention_policies ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON retention_policies FOR SELECT TO penstock_api
    USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON retention_policies TO penstock_admin USING (true);
GRANT SELECT ON retention_policies TO penstock_api;
GRANT SELECT, INSERT, UPDATE ON retention_policies TO penstock_admin;

-- What retention looks for, oldest first.
CREATE INDEX jobs_ended ON jobs (org_id, finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_imports ON jobs (org_id, state, finished_at)
    WHERE pipeline = 'shop_import' AND finished_at IS NOT NULL;
CREATE INDEX page_versions_age ON page_versions (org_id, fetched_at);
CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (org_id, settled_at)
    WHERE settled_at IS NOT NULL;
-- Deleting a job looks for what refers to it.
CREATE INDEX idempotency_keys_job ON idempotency_keys (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX result_cache_job ON result_cache (job_id);

-- What is done by the clock: by a cron expression in a time zone, or once.
CREATE TABLE schedules (
    id           uuid PRIMARY KEY,
    org_id       bigint NOT NULL REFERENCES orgs,
    -- Its creator, under whose rights it runs.
    user_id      bigint NOT NULL REFERENCES users,
    name         text NOT NULL,
    cron         text,
    at           timestamptz,
    time_zone    text NOT NULL,
    catch_up     text NOT NULL CHECK (catch_up IN ('once', 'all', 'none')),
    action       jsonb NOT NULL,
    state        text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'ended')),
    pause_reason text,
    -- Failures in a row, and after how many the schedule pauses itself; 0: never.
    failures     integer NOT NULL DEFAULT 0,
    pause_after  integer NOT NULL CHECK (pause_after >= 0),
    next_at      timestamptz,
    -- The time at which `next_at` was set. Ahead of the clock, if the clock was set back since.
    planned_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (org_id, name),
    CHECK ((cron IS NULL) <> (at IS NULL)),
    CHECK ((state = 'active') = (next_at IS NOT NULL))
);

CREATE INDEX schedules_due ON schedules (next_at) WHERE state = 'active';
CREATE INDEX schedules_planned ON schedules (planned_at) WHERE state = 'active' AND cron IS NOT NULL;

-- One row for each due time: a second one for the same time cannot be added.
CREATE TABLE schedule_runs (
    schedule_id uuid NOT NULL REFERENCES schedules ON DELETE CASCADE,
    due_at      timestamptz NOT NULL,
    org_id      bigint NOT NULL REFERENCES orgs,
    state       text NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed', 'cancelled',
                                               'missed')),
    -- Started by a user.
    manual      boolean NOT NULL DEFAULT false,
    -- How many due times a missed run stands for.
    times       integer NOT NULL DEFAULT 1,
    attempts    smallint NOT NULL DEFAULT 0,
    try_at      timestamptz NOT NULL DEFAULT now(),
    job_id      uuid,
    error       jsonb,
    created_at  timestamptz NOT NULL DEFAULT now(),
    ended_at    timestamptz,
    PRIMARY KEY (schedule_id, due_at)
);

CREATE INDEX schedule_runs_open ON schedule_runs (try_at) WHERE state IN ('waiting', 'running');
CREATE INDEX schedule_runs_age ON schedule_runs (created_at);

ALTER TABLE schedules ENABLE ROW LEVEL SECURITY;
ALTER TABLE schedule_runs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON schedules TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON schedule_runs TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON schedules TO penstock_admin USING (true);
CREATE POLICY all_orgs ON schedule_runs TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON schedules TO penstock_api, penstock_admin;
GRANT SELECT, INSERT, UPDATE ON schedule_runs TO penstock_api, penstock_admin;

-- One row for each end of a job, written by the statement that ends it and kept after the job is
-- deleted. A job that is reprocessed ends again.
CREATE TABLE job_metrics (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    org_id      bigint NOT NULL REFERENCES orgs,
    job_id      uuid NOT NULL,
    generation  integer NOT NULL,
    pipeline    text NOT NULL,
    lane        text NOT NULL,
    status      text NOT NULL CHECK (status IN ('done', 'failed', 'cancelled')),
    -- False also for a job that is done but all of whose rows failed.
    success     boolean NOT NULL,
    -- Why it failed, or the most frequent error of its rows.
    code        text,
    -- From the queue to the start, from the start to the end, and both together.
    queued_ms   bigint NOT NULL,
    run_ms      bigint NOT NULL,
    total_ms    bigint NOT NULL,
    total       integer NOT NULL,
    done        integer NOT NULL,
    error       integer NOT NULL,
    not_found   integer NOT NULL,
    skipped     integer NOT NULL,
    -- Failed runs of the job itself.
    attempts    integer NOT NULL,
    finished_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX job_metrics_age ON job_metrics (finished_at);
CREATE INDEX job_metrics_job ON job_metrics (job_id);

-- Sums of job_metrics by minute, hour and day. Durations are counted by class (`duration_class`).
CREATE TABLE job_rollups (
    span      text NOT NULL CHECK (span IN ('minute', 'hour', 'day')),
    at        timestamptz NOT NULL,
    org_id    bigint NOT NULL REFERENCES orgs,
    pipeline  text NOT NULL,
    succeeded bigint NOT NULL,
    failed    bigint NOT NULL,
    cancelled bigint NOT NULL,
    rows      bigint NOT NULL,
    row_errors bigint NOT NULL,
    queued_ms bigint NOT NULL,
    run_ms    bigint NOT NULL,
    total_ms  bigint NOT NULL,
    -- {class: count}
    durations jsonb NOT NULL,
    PRIMARY KEY (span, at, org_id, pipeline)
) WITH (fillfactor = 70);

-- The class of a duration: class n ends at 2^(n/2) * 10 ms; the last one, 40, holds all above 2.9 h.
CREATE FUNCTION duration_class(ms bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN least(40, greatest(0, ceil(2 * ln(greatest(ms, 1) / 10.0::double precision)
                                  / ln(2.0::double precision))::integer));

-- What the monitor measured: one row each time it looks.
CREATE TABLE health_checks (
    at        timestamptz PRIMARY KEY DEFAULT now(),
    status    text NOT NULL CHECK (status IN ('healthy', 'degraded', 'unhealthy')),
    depth     bigint NOT NULL,
    waiting   bigint NOT NULL,
    active    bigint NOT NULL,
    oldest_ms bigint NOT NULL,
    workers   integer NOT NULL,
    -- Checks with values and thresholds, and the figures of each pipeline.
    checks    jsonb NOT NULL,
    figures   jsonb NOT NULL
);

-- The monitor's place: two leaders lock it in turns.
CREATE TABLE monitor_state (
    one          boolean PRIMARY KEY DEFAULT true CHECK (one),
    status       text NOT NULL DEFAULT 'healthy'
                 CHECK (status IN ('healthy', 'degraded', 'unhealthy')),
    since        timestamptz NOT NULL DEFAULT now(),
    checked_at   timestamptz,
    -- Up to where job_metrics are in job_rollups.
    rolled_up_to timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 10);

INSERT INTO monitor_state DEFAULT VALUES;

-- The installation's own events, such as leases that were taken back.
CREATE INDEX events_of_installation ON events (event, created_at) WHERE job_id IS NULL;

ALTER TABLE job_metrics ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_rollups ENABLE ROW LEVEL SECURITY;
ALTER TABLE health_checks ENABLE ROW LEVEL SECURITY;
ALTER TABLE monitor_state ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON job_metrics TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON job_rollups FOR SELECT TO penstock_api
    USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON job_metrics TO penstock_admin USING (true);
CREATE POLICY all_orgs ON job_rollups TO penstock_admin USING (true);
CREATE POLICY all_orgs ON health_checks TO penstock_admin USING (true);
CREATE POLICY all_orgs ON monitor_state TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE (code) ON job_metrics TO penstock_api, penstock_admin;
GRANT SELECT ON job_rollups TO penstock_api, penstock_admin;
GRANT SELECT ON health_checks, monitor_state TO penstock_admin;

-- How many jobs ended in the last hour, up to a bound, and whether all that waits is in paused lanes.
CREATE FUNCTION last_hour(most integer)
    RETURNS TABLE (completed bigint, failed bigint, paused boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT count(*) FILTER (WHERE m.success), count(*) FILTER (WHERE NOT m.success),
           EXISTS (SELECT FROM paused_lanes) AND NOT EXISTS (
               SELECT FROM jobs j WHERE j.state = 'queued' AND NOT j.paused AND NOT j.standing
                 AND NOT EXISTS (SELECT FROM paused_lanes p WHERE p.lane = j.lane))
    FROM (SELECT success FROM job_metrics
          WHERE finished_at > now() - interval '1 hour' AND status <> 'cancelled'
          ORDER BY finished_at DESC LIMIT most) AS m;
END;

REVOKE ALL ON FUNCTION last_hour(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION last_hour(integer) TO penstock_api, penstock_admin;
-- Places that are scanned for new files.
CREATE TABLE watchers (
    id            uuid PRIMARY KEY,
    org_id        bigint NOT NULL REFERENCES orgs,
    -- The user who created it, in whose name its jobs run. This user and admins change it.
    user_id       bigint NOT NULL REFERENCES users,
    name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    kind          text NOT NULL CHECK (kind IN ('folder', 's3', 'ftp', 'sftp', 'imap')),
    address       text NOT NULL CHECK (length(address) BETWEEN 1 AND 1000),
    -- Sealed JSON; empty after the watcher was deleted.
    credentials   bytea NOT NULL,
    pattern       text NOT NULL CHECK (length(pattern) BETWEEN 1 AND 500),
    -- What happens to a file after its job was created.
    after_taken   text NOT NULL CHECK (after_taken IN ('keep', 'move', 'rename', 'delete')),
    -- When a file is complete: unchanged for a while, or there is a marker beside it.
    complete_by   text NOT NULL CHECK (complete_by IN ('unchanged', 'marker')),
    -- Pipeline and config of its jobs.
    job           jsonb NOT NULL,
    enabled       boolean NOT NULL DEFAULT true,
    -- Seconds between scans; null: only on request.
    every_seconds integer CHECK (every_seconds BETWEEN 1 AND 86400),
    next_scan_at  timestamptz NOT NULL DEFAULT now(),
    -- The last scan that ended, what it answered, and why it could not list the place.
    scanned_at    timestamptz,
    last_scan     jsonb,
    error         jsonb,
    failures      integer NOT NULL DEFAULT 0,
    -- The key that the server showed first; another one is refused.
    host_key      text,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    deleted_at    timestamptz,
    CHECK (deleted_at IS NULL OR credentials = '')
);

CREATE INDEX watchers_listed ON watchers (org_id, id) WHERE deleted_at IS NULL;
CREATE INDEX watchers_due ON watchers (next_scan_at)
    WHERE deleted_at IS NULL AND enabled AND every_seconds IS NOT NULL;

-- Files that watchers have seen. Each version of a file becomes at most one job.
CREATE TABLE watched_files (
    id            uuid PRIMARY KEY,
    org_id        bigint NOT NULL REFERENCES orgs,
    watcher_id    uuid NOT NULL REFERENCES watchers ON DELETE CASCADE,
    name          text NOT NULL CHECK (length(name) BETWEEN 1 AND 500),
    version       text NOT NULL CHECK (length(version) BETWEEN 1 AND 200),
    size          bigint NOT NULL,
    modified_at   timestamptz,
    state         text NOT NULL DEFAULT 'seen'
                  CHECK (state IN ('seen', 'taking', 'submitted', 'failed')),
    -- The scanner that reads the file, and until when it must have renewed its claim.
    claim         uuid,
    claimed_until timestamptz,
    attempts      integer NOT NULL DEFAULT 0,
    -- When a failed file is tried again; null: not by itself.
    next_try_at   timestamptz,
    error         jsonb,
    job_id        uuid,
    -- Whether the file was kept, moved or deleted after its job was created.
    finished      boolean NOT NULL DEFAULT false,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at  timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (watcher_id, name, version),
    CHECK ((state = 'taking') = (claim IS NOT NULL AND claimed_until IS NOT NULL)),
    CHECK ((state = 'submitted') = (job_id IS NOT NULL)),
    CHECK (state <> 'failed' OR error IS NOT NULL)
);

CREATE INDEX watched_files_listed ON watched_files (watcher_id, id);
CREATE INDEX watched_files_failed ON watched_files (watcher_id, id) WHERE state = 'failed';
CREATE INDEX watched_files_unfinished ON watched_files (watcher_id)
    WHERE state = 'submitted' AND NOT finished;
CREATE INDEX watched_files_age ON watched_files (last_seen_at);

ALTER TABLE watchers ENABLE ROW LEVEL SECURITY;
ALTER TABLE watched_files ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON watchers FOR SELECT TO penstock_api
    USING (org_id = (SELECT current_org()));
CREATE POLICY own_new ON watchers FOR INSERT TO penstock_api
    WITH CHECK (org_id = (SELECT current_org())
                AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
-- A test by any user of the org stores its result.
CREATE POLICY own_rows ON watchers FOR UPDATE TO penstock_api
    USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON watched_files TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON watchers TO penstock_admin USING (true);
CREATE POLICY all_orgs ON watched_files TO penstock_admin USING (true);
GRANT SELECT, INSERT, UPDATE ON watchers TO penstock_api, penstock_admin;
GRANT SELECT, UPDATE ON watched_files TO penstock_api, penstock_admin;

-- Feeds of products that other services fetch by a secret address.
CREATE TABLE feeds (
    id          uuid PRIMARY KEY,
    org_id      bigint NOT NULL REFERENCES orgs,
    user_id     bigint NOT NULL REFERENCES users,
    name        text NOT NULL,
    -- SHA-256 of the secret, which is shown once.
    secret_hash bytea NOT NULL UNIQUE CHECK (length(secret_hash) = 32),
    options     jsonb NOT NULL,
    enabled     boolean NOT NULL DEFAULT true,
    read_at     timestamptz,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    rotated_at  timestamptz,
    UNIQUE (org_id, name)
);

-- The file of a feed as it was built last; the blob is referenced in blob_refs.
CREATE TABLE feed_files (
    feed_id  uuid NOT NULL REFERENCES feeds ON DELETE CASCADE,
    kind     text NOT NULL CHECK (kind IN ('xml', 'csv')),
    org_id   bigint NOT NULL REFERENCES orgs,
    blob_key text NOT NULL,
    sha256   text NOT NULL,
    size     bigint NOT NULL,
    included integer NOT NULL,
    -- How many products are left out, by reason, with the first ones.
    left_out jsonb NOT NULL,
    built_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (feed_id, kind)
);

ALTER TABLE feeds ENABLE ROW LEVEL SECURITY;
ALTER TABLE feed_files ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON feeds TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON feed_files TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON feeds TO penstock_admin USING (true);
CREATE POLICY all_orgs ON feed_files TO penstock_admin USING (true);
GRANT SELECT (id, org_id, user_id, name, options, enabled, read_at, created_at, updated_at, rotated_at),
    INSERT, UPDATE, DELETE ON feeds TO penstock_api, penstock_admin;
GRANT SELECT ON feed_files TO penstock_api, penstock_admin;


-- Problems that the monitor found, from the check that failed first to the one that passed again.
CREATE TABLE alerts (
    id          uuid PRIMARY KEY,
    -- The check, with its pipeline or provider.
    key         text NOT NULL,
    event       text NOT NULL,
    severity    text NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
    message     text NOT NULL,
    value       double precision,
    threshold   double precision,
    opened_at   timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    resolved_at timestamptz
) WITH (fillfactor = 70);

-- Two leaders cannot both open one.
CREATE UNIQUE INDEX alerts_open ON alerts (key) WHERE resolved_at IS NULL;
CREATE INDEX alerts_listed ON alerts (opened_at, id);

-- Checks about which nothing is sent for a time.
CREATE TABLE alert_silences (
    key        text PRIMARY KEY,
    until      timestamptz NOT NULL,
    reason     text NOT NULL DEFAULT '',
    user_id    bigint NOT NULL REFERENCES users,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Where alerts and events are sent to.
CREATE TABLE notification_targets (
    id             uuid PRIMARY KEY,
    org_id         bigint NOT NULL REFERENCES orgs,
    -- Its creator: an org's target gets events of the jobs that this user may see.
    user_id        bigint NOT NULL REFERENCES users,
    -- Of the installation: it gets alerts of the monitor.
    installation   boolean NOT NULL,
    name           text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
    kind           text NOT NULL CHECK (kind IN ('slack', 'webhook', 'pagerduty', 'email')),
    -- Sealed; empty after the target was deleted.
    address        bytea NOT NULL,
    -- What is shown of the address: its host, or the domain of an e-mail.
    shown_address  text NOT NULL,
    severities     text[] NOT NULL CHECK (severities <@ ARRAY['info', 'warning', 'critical']),
    events         text[] NOT NULL,
    enabled        boolean NOT NULL DEFAULT true,
    silenced_until timestamptz,
    created_at     timestamptz NOT NULL DEFAULT now(),
    deleted_at     timestamptz,
    CHECK (deleted_at IS NULL OR address = '')
);

CREATE INDEX notification_targets_listed ON notification_targets (org_id, id)
    WHERE deleted_at IS NULL;

-- One message for one target, and its result.
CREATE TABLE notifications (
    id         uuid PRIMARY KEY,
    org_id     bigint NOT NULL REFERENCES orgs,
    user_id    bigint NOT NULL REFERENCES users,
    -- Unset: an e-mail to the user.
    target_id  uuid REFERENCES notification_targets,
    alert_id   uuid REFERENCES alerts ON DELETE CASCADE,
    event_id   bigint,
    event      text NOT NULL,
    phase      text NOT NULL CHECK (phase IN ('opened', 'resolved', 'event', 'test')),
    message    jsonb NOT NULL,
    state      text NOT NULL DEFAULT 'waiting'
               CHECK (state IN ('waiting', 'pending', 'sent', 'failed', 'dropped')),
    stream_job uuid,
    row_no     integer,
    tries      integer NOT NULL DEFAULT 0,
    error      jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    -- When it became an item.
    picked_at  timestamptz,
    settled_at timestamptz,
    CHECK ((state IN ('waiting', 'pending')) = (settled_at IS NULL))
) WITH (fillfactor = 70);

-- Nothing is sent to a target twice.
CREATE UNIQUE INDEX notifications_of_alert ON notifications (target_id, alert_id, phase)
    WHERE alert_id IS NOT NULL;
CREATE UNIQUE INDEX notifications_of_event ON notifications (user_id, target_id, event_id)
    NULLS NOT DISTINCT WHERE event_id IS NOT NULL;
CREATE INDEX notifications_told ON notifications (alert_id) WHERE alert_id IS NOT NULL;
CREATE INDEX notifications_waiting ON notifications (created_at) WHERE state = 'waiting';
CREATE INDEX notifications_pending ON notifications (stream_job, row_no) WHERE state = 'pending';
CREATE INDEX notifications_listed ON notifications (org_id, id);
CREATE INDEX notifications_of_target ON notifications (target_id, picked_at);
CREATE INDEX notifications_age ON notifications (settled_at) WHERE settled_at IS NOT NULL;

-- Users who want an e-mail when one job ends.
CREATE TABLE job_watchers (
    job_id  uuid NOT NULL REFERENCES jobs ON DELETE CASCADE,
    user_id bigint NOT NULL REFERENCES users,
    org_id  bigint NOT NULL REFERENCES orgs,
    PRIMARY KEY (job_id, user_id)
);

-- Users who want an e-mail when any of their jobs ends, or fails.
CREATE TABLE job_mail_settings (
    user_id bigint PRIMARY KEY REFERENCES users,
    org_id  bigint NOT NULL REFERENCES orgs,
    jobs    text NOT NULL CHECK (jobs IN ('none', 'failed', 'all'))
);

INSERT INTO event_cursors (name) VALUES ('notifications'), ('job log');

ALTER TABLE alerts ENABLE ROW LEVEL SECURITY;
ALTER TABLE alert_silences ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification_targets ENABLE ROW LEVEL SECURITY;
ALTER TABLE notifications ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_watchers ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_mail_settings ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_orgs ON alerts TO penstock_admin USING (true);
CREATE POLICY all_orgs ON alert_silences TO penstock_admin USING (true);
CREATE POLICY own_org ON notification_targets TO penstock_api
    USING (org_id = (SELECT current_org()) AND NOT installation)
    WITH CHECK (org_id = (SELECT current_org()) AND NOT installation
                AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY all_orgs ON notification_targets TO penstock_admin USING (true);
CREATE POLICY own_rows ON notifications TO penstock_api
    USING (org_id = (SELECT current_org())
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));
CREATE POLICY all_orgs ON notifications TO penstock_admin USING (true);
CREATE POLICY own_rows ON job_watchers TO penstock_api
    USING (org_id = (SELECT current_org()) AND user_id = (SELECT current_actor()));
CREATE POLICY all_orgs ON job_watchers TO penstock_admin USING (true);
CREATE POLICY own_rows ON job_mail_settings TO penstock_api
    USING (org_id = (SELECT current_org()) AND user_id = (SELECT current_actor()));
CREATE POLICY all_orgs ON job_mail_settings TO penstock_admin USING (true);
GRANT SELECT ON alerts TO penstock_admin;
GRANT SELECT, INSERT, UPDATE, DELETE ON alert_silences TO penstock_admin;
GRANT SELECT (id, org_id, user_id, installation, name, kind, shown_address, severities, events, enabled,
              silenced_until, created_at, deleted_at), INSERT,
    UPDATE (enabled, silenced_until, severities, events, name, address, deleted_at)
    ON notification_targets TO penstock_api, penstock_admin;
GRANT SELECT, INSERT ON notifications TO penstock_api, penstock_admin;
GRANT SELECT, INSERT, DELETE ON job_watchers TO penstock_api, penstock_admin;
GRANT SELECT, INSERT, UPDATE ON job_mail_settings TO penstock_api, penstock_admin;
