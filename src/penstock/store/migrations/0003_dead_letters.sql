-- Dead letters: what failed for good, with all that is needed to judge it and to run it again.

-- When the failures began that the job is tried again for; unset while nothing is wrong.
ALTER TABLE jobs ADD COLUMN first_failed_at timestamptz;

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
