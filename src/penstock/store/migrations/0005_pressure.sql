-- How full the queue is, as its watch saw it last; and what each worker says of itself.

CREATE TABLE intake (
    one        boolean PRIMARY KEY DEFAULT true CHECK (one),
    level      text NOT NULL DEFAULT 'healthy'
               CHECK (level IN ('healthy', 'degraded', 'critical', 'overload')),
    depth      bigint NOT NULL DEFAULT 0,
    since      timestamptz NOT NULL DEFAULT now(),
    checked_at timestamptz NOT NULL DEFAULT now(),
    alerted_at timestamptz
) WITH (fillfactor = 10);

INSERT INTO intake DEFAULT VALUES;

ALTER TABLE intake ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_orgs ON intake TO penstock_admin USING (true);
GRANT SELECT ON intake TO penstock_admin;

ALTER TABLE workers ADD COLUMN figures jsonb NOT NULL DEFAULT '{}';
ALTER TABLE workers SET (fillfactor = 50);

-- Paused jobs are left out: nobody works on them, so that they could keep a queue full for ever.
-- Counting ends at `most`; the version before asks without it.
DROP FUNCTION queue_state();
CREATE FUNCTION queue_state(most integer DEFAULT 20001)
    RETURNS TABLE (depth bigint, waiting bigint, active bigint, delayed bigint, oldest_ms double precision,
                   slots bigint, workers bigint, avg_job_ms double precision, level text,
                   since timestamptz, dead_letters bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT q.depth, q.waiting, q.active, q.delayed, q.oldest_ms, w.slots, w.workers,
           (SELECT avg(extract(epoch FROM r.finished_at - r.started_at) * 1000)
                FROM (SELECT finished_at, started_at FROM jobs
                      WHERE state = 'done' AND started_at IS NOT NULL
                      ORDER BY finished_at DESC LIMIT 50) AS r),
           i.level, i.since, (SELECT coalesce(sum(open), 0) FROM dead_letter_groups)
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
