-- What places in lists are signed with, the same for every process. Two ids: 244 random bits.
ALTER TABLE installation ADD COLUMN signing_key bytea NOT NULL
    DEFAULT decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex');

-- What ended with a problem, by when it did. Rows that are done are in no index but their key.
CREATE INDEX items_problem_age ON job_items (job_id, status, updated_at, row_no)
    WHERE status IN ('ERROR', 'NOT_FOUND', 'SKIPPED');
