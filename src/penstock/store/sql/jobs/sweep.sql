-- name: expired_slices
-- Leases that ran out. None within one lease of PostgreSQL's own start: their holders could not
-- have extended them while it was away. (A start that is yet to come was by a clock since set back.)
SELECT id, job_id FROM slices
WHERE expires_at < now()
  AND NOT pg_postmaster_start_time() BETWEEN now() - $1 * interval '1 millisecond' AND now()
ORDER BY expires_at LIMIT $2

-- name: slices_of_worker
-- Leases of a worker that is known to be dead.
SELECT id, job_id FROM slices WHERE worker = $1

-- name: take_expired
-- The sweeper's fence: delete the slice. A locked slice is being written by its holder and is skipped,
-- since the sweeper holds the claim lock.
WITH gone AS MATERIALIZED (
    SELECT id FROM slices WHERE id = $1 AND ($2 OR expires_at < now()) FOR UPDATE SKIP LOCKED
)
DELETE FROM slices s USING gone WHERE s.id = gone.id
RETURNING s.id, s.kind, s.job_id, s.org_id, s.position, s.stage, s.worker, s.row_nos

-- name: return_items
-- Items whose worker died wait again; one that died alone three times is set aside. One that saw two
-- crashes is always claimed alone; before, a claim of one row may have had others beside it.
UPDATE job_items i SET
    crashes = i.crashes + 1,
    solo_crashes = i.solo_crashes + (i.crashes >= 2 AND cardinality($3::integer[]) = 1)::integer,
    status = CASE WHEN i.crashes >= 2 AND cardinality($3::integer[]) = 1 AND i.solo_crashes >= 2
                  THEN 'ERROR' ELSE 'PENDING' END,
    error = CASE WHEN i.crashes >= 2 AND cardinality($3::integer[]) = 1 AND i.solo_crashes >= 2
                 THEN $4::jsonb ELSE i.error END,
    slice_id = NULL, due_at = now(), updated_at = now()
FROM unnest($3::integer[]) AS r (row_no)
WHERE i.job_id = $1 AND i.row_no = r.row_no AND i.slice_id = $2
RETURNING i.row_no, i.status

-- name: crash_stage
-- Count the crash of a worker during an ingest or a finish.
UPDATE job_stages SET crashes = crashes + 1 WHERE job_id = $1 AND position = $2 RETURNING crashes

-- name: end_frozen
-- End our clients that froze between the messages of one statement, perhaps while they hold the claim
-- lock. The server considers them active, so its timeouts of idle transactions and statements do not
-- apply.
SELECT pid, application_name, pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND application_name LIKE 'penstock %' AND pid <> pg_backend_pid()
  AND pg_has_role(usesysid, 'USAGE') AND state = 'active' AND wait_event = 'ClientRead'
  AND xact_start < now() - $1 * interval '1 millisecond'
  AND state_change < now() - $1 * interval '1 millisecond'

-- name: silent_workers
-- Workers without heartbeat; each is reported once.
UPDATE workers SET stopped_at = now()
WHERE stopped_at IS NULL AND heartbeat_at < now() - $1 * interval '1 millisecond'
RETURNING id, host, pid

-- name: forget_workers
-- Delete workers that ended a day ago.
DELETE FROM workers WHERE stopped_at < now() - interval '1 day'

-- name: forget_keys
-- Delete idempotency keys after two days, a chunk at a time.
DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency_keys
    WHERE created_at < now() - interval '2 days' ORDER BY created_at LIMIT 5000))

-- name: add_system_event
-- An event of the installation, for admins.
INSERT INTO events (event, worker, data) VALUES ($1, $2, $3::jsonb)

-- name: count_taken_back
-- One more lease was taken back.
UPDATE intake SET leases_taken_back = leases_taken_back + 1
