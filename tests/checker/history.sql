-- An append-only history of a test's schema: what became of every item, range, lease and job, and when.
-- One sequence numbers all tables, so that their rows can be put in one order. Whatever role
-- makes a change, the owner writes it down.

CREATE SEQUENCE history_n;

CREATE TABLE history_items (
    n bigint NOT NULL DEFAULT nextval('history_n'),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- What the statements of the transaction take for now.
    began timestamptz NOT NULL DEFAULT now(),
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    job_id uuid, row_no integer,
    from_status text, to_status text, from_stage smallint, to_stage smallint,
    from_slice uuid, to_slice uuid, from_generation integer, generation integer,
    from_attempts smallint, attempts smallint, from_crashes smallint, crashes smallint,
    solo_crashes smallint,
    from_result text, result text, error_code text, due_at timestamptz, group_key text
);

CREATE TABLE history_slices (
    n bigint NOT NULL DEFAULT nextval('history_n'),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    op text, id uuid, kind text, job_id uuid, org_id bigint, pipeline text, stage text, worker text,
    group_key text,
    row_nos integer[], from_expires timestamptz, expires_at timestamptz
);

CREATE TABLE history_jobs (
    n bigint NOT NULL DEFAULT nextval('history_n'),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    job_id uuid, from_state text, state text, paused boolean, from_generation integer,
    generation integer, from_percent real, percent real, from_seq bigint, seq bigint,
    -- What this one change did to the counters.
    d_total integer, d_pending integer, d_processing integer, d_done integer, d_error integer,
    d_not_found integer, d_skipped integer,
    -- The job whose rows are this one's, until they are copied.
    from_shared uuid, shared uuid
);

CREATE TABLE history_ranges (
    n bigint NOT NULL DEFAULT nextval('history_n'),
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    op text, job_id uuid, first_row integer, rows integer, slice_id uuid
);

CREATE INDEX ON history_ranges (job_id, xid);
CREATE INDEX ON history_items (job_id, row_no, n);
CREATE INDEX ON history_slices (id, op);
CREATE INDEX ON history_jobs (job_id, n);
-- Looked up for every row that is stored.
CREATE INDEX ON history_jobs (job_id) WHERE shared IS DISTINCT FROM from_shared;

-- Jobs that had the rows of another job, from when on, and until when: then all were copied.
CREATE VIEW sharing AS
    SELECT job_id, (array_agg(shared) FILTER (WHERE shared IS NOT NULL))[1] AS source,
           min(n) FILTER (WHERE shared IS NOT NULL) AS began,
           coalesce(min(n) FILTER (WHERE shared IS NULL), 9223372036854775807) AS ended
    FROM history_jobs WHERE shared IS DISTINCT FROM from_shared GROUP BY job_id;

CREATE FUNCTION record_item() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO history_items (
        job_id, row_no, from_status, to_status, from_stage, to_stage, from_slice, to_slice,
        from_generation, generation, from_attempts, attempts, from_crashes, crashes, solo_crashes,
        from_result, result, error_code, due_at, group_key)
    VALUES (
        coalesce(NEW.job_id, OLD.job_id), coalesce(NEW.row_no, OLD.row_no),
        OLD.status, NEW.status, OLD.stage, NEW.stage, OLD.slice_id, NEW.slice_id,
        OLD.generation, NEW.generation, OLD.attempts, NEW.attempts, OLD.crashes, NEW.crashes,
        NEW.solo_crashes,
        md5(OLD.result::text), md5(NEW.result::text), NEW.error ->> 'code', NEW.due_at,
        NEW.group_key);
    RETURN NULL;
END $$;

CREATE FUNCTION record_slice() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE s slices;
BEGIN
    s := coalesce(NEW, OLD);
    INSERT INTO history_slices (
        op, id, kind, job_id, org_id, pipeline, stage, worker, group_key, row_nos, from_expires,
        expires_at)
    VALUES (
        TG_OP, s.id, s.kind, s.job_id, s.org_id, s.pipeline, s.stage, s.worker, s.group_key,
        CASE WHEN TG_OP = 'INSERT' THEN s.row_nos END, OLD.expires_at, NEW.expires_at);
    RETURN NULL;
END $$;

CREATE FUNCTION record_job() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO history_jobs (
        job_id, from_state, state, paused, from_generation, generation, from_percent, percent,
        from_seq, seq, d_total, d_pending, d_processing, d_done, d_error, d_not_found, d_skipped,
        from_shared, shared)
    VALUES (
        NEW.id, OLD.state, NEW.state, NEW.paused, OLD.generation, NEW.generation,
        OLD.percent, NEW.percent, coalesce(OLD.seq, 0), NEW.seq,
        NEW.total - coalesce(OLD.total, 0), NEW.pending - coalesce(OLD.pending, 0),
        NEW.processing - coalesce(OLD.processing, 0), NEW.done - coalesce(OLD.done, 0),
        NEW.error - coalesce(OLD.error, 0), NEW.not_found - coalesce(OLD.not_found, 0),
        NEW.skipped - coalesce(OLD.skipped, 0), OLD.shared_from, NEW.shared_from);
    RETURN NULL;
END $$;

CREATE FUNCTION record_range() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE r job_ranges;
BEGIN
    r := coalesce(NEW, OLD);
    INSERT INTO history_ranges (op, job_id, first_row, rows, slice_id)
    VALUES (TG_OP, r.job_id, r.first_row, r.rows, r.slice_id);
    RETURN NULL;
END $$;

CREATE TRIGGER history AFTER INSERT OR UPDATE OR DELETE ON job_ranges
    FOR EACH ROW EXECUTE FUNCTION record_range();
CREATE TRIGGER history AFTER INSERT OR UPDATE OR DELETE ON job_items
    FOR EACH ROW EXECUTE FUNCTION record_item();
CREATE TRIGGER history AFTER INSERT OR UPDATE OR DELETE ON slices
    FOR EACH ROW EXECUTE FUNCTION record_slice();
CREATE TRIGGER history AFTER INSERT OR UPDATE ON jobs
    FOR EACH ROW EXECUTE FUNCTION record_job();
