-- name: add_schedule
-- A schedule of a user.
INSERT INTO schedules (id, org_id, user_id, name, cron, at, time_zone, catch_up, action,
                       pause_after, next_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11)
ON CONFLICT (org_id, name) DO NOTHING RETURNING id

-- name: count_schedules
-- How many schedules an org has, up to a limit.
SELECT count(*) FROM (SELECT 1 FROM schedules WHERE org_id = $1 LIMIT $2) AS few

-- name: list_schedules
-- Schedules of one org, by name.
SELECT s.*, o.name AS org, u.email AS owner, u.disabled_at IS NOT NULL AS owner_disabled
FROM schedules s JOIN orgs o ON o.id = s.org_id LEFT JOIN users u ON u.id = s.user_id
WHERE s.org_id = $1 ORDER BY s.name LIMIT $2

-- name: get_schedule
-- One schedule by its id.
SELECT s.*, o.name AS org, u.email AS owner, u.disabled_at IS NOT NULL AS owner_disabled
FROM schedules s JOIN orgs o ON o.id = s.org_id LEFT JOIN users u ON u.id = s.user_id
WHERE s.id = $1

-- name: lock_schedule
-- Wait for other changes of a schedule.
SELECT name, state, failures, pause_after FROM schedules WHERE id = $1 FOR UPDATE

-- name: name_taken
-- Whether another schedule of the org has this name.
SELECT EXISTS (SELECT FROM schedules WHERE org_id = $1 AND name = $2 AND id <> $3)

-- name: change_schedule
-- Replace all that a user sets. A changed schedule starts without failures.
UPDATE schedules SET name = $2, cron = $3, at = $4, time_zone = $5, catch_up = $6,
    action = $7::jsonb, pause_after = $8, next_at = $9,
    state = CASE WHEN $9::timestamptz IS NULL THEN state ELSE 'active' END,
    pause_reason = CASE WHEN $9::timestamptz IS NULL THEN pause_reason END,
    failures = 0, updated_at = now(), planned_at = clock_timestamp()
WHERE id = $1

-- name: delete_schedule
-- Delete a schedule with its runs; jobs stay.
DELETE FROM schedules WHERE id = $1 RETURNING id

-- name: pause_schedule
-- Pause a schedule: nothing is due until it is resumed.
UPDATE schedules SET state = 'paused', pause_reason = $2, next_at = NULL, updated_at = now()
WHERE id = $1 AND state = 'active' RETURNING id

-- name: resume_schedule
-- Due again from the next time on.
UPDATE schedules SET state = 'active', pause_reason = NULL, failures = 0, next_at = $2,
    updated_at = now(), planned_at = clock_timestamp()
WHERE id = $1 AND state = 'paused' RETURNING id

-- name: due_schedules
-- Lock schedules whose time has come; $2 shifts the clock in tests.
SELECT id, org_id, cron, at, time_zone, catch_up, next_at, clock_timestamp() + $2::interval AS now
FROM schedules WHERE state = 'active' AND next_at <= clock_timestamp() + $2::interval
ORDER BY next_at LIMIT $1 FOR UPDATE SKIP LOCKED

-- name: planned_ahead
-- Lock schedules whose next time was set by a clock that was set back since; $2 shifts the clock in
-- tests.
SELECT id, org_id, cron, at, time_zone, catch_up, next_at, clock_timestamp() + $2::interval AS now
FROM schedules
WHERE state = 'active' AND cron IS NOT NULL
  AND planned_at > clock_timestamp() + $2::interval + interval '2 seconds'
ORDER BY planned_at DESC LIMIT $1 FOR UPDATE SKIP LOCKED

-- name: bring_runs_forward
-- Runs that a clock, which was set back since, has put off, begin now.
UPDATE schedule_runs SET try_at = clock_timestamp()
WHERE state = 'waiting' AND try_at > clock_timestamp() + interval '2 seconds'
  AND (created_at > clock_timestamp() + interval '2 seconds'
       OR try_at > clock_timestamp() + interval '1 hour')

-- name: read_clock
-- The clock that schedules use.
SELECT clock_timestamp()

-- name: advance
-- The next due time; without one the schedule has ended.
UPDATE schedules SET next_at = $2, planned_at = $3,
    state = CASE WHEN $2::timestamptz IS NULL THEN 'ended' ELSE state END
WHERE id = $1

-- name: add_runs
-- One row for each due time, unless there is one. A run that was missed begins if its time comes
-- again, after the clock was set back.
INSERT INTO schedule_runs (schedule_id, due_at, org_id, state, times, ended_at)
SELECT $1, due_at, $2, $4, $5, CASE WHEN $4 = 'missed' THEN now() END
FROM unnest($3::timestamptz[]) AS due_at
ON CONFLICT (schedule_id, due_at) DO UPDATE SET state = 'waiting', times = 1, ended_at = NULL, try_at = now()
    WHERE schedule_runs.state = 'missed' AND excluded.state = 'waiting'
RETURNING due_at

-- name: add_manual_run
-- A run that a user starts.
INSERT INTO schedule_runs (schedule_id, due_at, org_id, state, manual)
VALUES ($1, clock_timestamp(), $2, 'waiting', true)
ON CONFLICT DO NOTHING RETURNING due_at

-- name: list_runs
-- Runs of a schedule, newest first.
SELECT due_at, state, manual, times, attempts, job_id, error, created_at, ended_at
FROM schedule_runs WHERE schedule_id = $1 AND due_at < $2 ORDER BY due_at DESC LIMIT $3

-- name: last_runs
-- The newest run of each schedule.
SELECT DISTINCT ON (schedule_id) schedule_id, due_at, state, manual, times, attempts, job_id,
       error, created_at, ended_at
FROM schedule_runs WHERE schedule_id = ANY($1::uuid[]) ORDER BY schedule_id, due_at DESC

-- name: waiting_runs
-- Runs to begin, with what they do and their user as it is now.
SELECT r.schedule_id, r.due_at, r.org_id, r.attempts, s.name, s.action, s.user_id,
       u.email, u.role, u.disabled_at IS NOT NULL AS disabled, o.name AS org, o.plan
FROM schedule_runs r JOIN schedules s ON s.id = r.schedule_id
JOIN users u ON u.id = s.user_id JOIN orgs o ON o.id = s.org_id
WHERE r.state = 'waiting' AND r.try_at <= clock_timestamp() ORDER BY r.try_at, r.due_at LIMIT $1

-- name: lock_run
-- Wait for another process that begins the same run; its state then.
SELECT state FROM schedule_runs WHERE schedule_id = $1 AND due_at = $2 FOR UPDATE

-- name: begin_run
-- The job of the run.
UPDATE schedule_runs SET state = 'running', job_id = $3, attempts = attempts + 1, error = NULL
WHERE schedule_id = $1 AND due_at = $2

-- name: finish_run
-- A run without a job has ended well.
UPDATE schedule_runs SET state = 'done', attempts = attempts + 1, error = NULL, ended_at = now()
WHERE schedule_id = $1 AND due_at = $2 AND state = 'waiting' RETURNING due_at

-- name: retry_run
-- Try the run again later.
UPDATE schedule_runs SET attempts = attempts + 1, error = $3::jsonb,
    try_at = clock_timestamp() + $4 * interval '1 millisecond'
WHERE schedule_id = $1 AND due_at = $2 AND state = 'waiting' AND attempts = $5 RETURNING due_at

-- name: fail_run
-- A run that could not begin.
UPDATE schedule_runs SET attempts = attempts + 1, state = 'failed', error = $3::jsonb,
    ended_at = now()
WHERE schedule_id = $1 AND due_at = $2 AND state = 'waiting' AND attempts = $4 RETURNING due_at

-- name: end_runs
-- Runs whose job has ended. A job without a single row that went well has failed; one that was deleted
-- has ended well or is of no interest any more.
UPDATE schedule_runs r SET ended_at = now(),
    error = CASE WHEN j.state = 'failed' THEN coalesce(j.last_error, j.first_error) END,
    state = CASE j.state WHEN 'failed' THEN 'failed' WHEN 'cancelled' THEN 'cancelled' ELSE 'done' END
FROM (SELECT o.schedule_id, o.due_at, b.last_error,
             CASE WHEN b.state = 'done' AND b.error > 0 AND b.error = b.total THEN 'failed'
                  ELSE b.state END AS state,
             CASE WHEN b.error > 0 THEN (
                 SELECT i.error FROM job_items i WHERE i.job_id = rows_of(b.id) AND i.status = 'ERROR'
                 ORDER BY i.row_no LIMIT 1) END AS first_error
      FROM schedule_runs o LEFT JOIN jobs b ON b.id = o.job_id
      WHERE o.state = 'running' AND (b.id IS NULL OR b.state IN ('done', 'failed', 'cancelled'))
      ORDER BY o.try_at LIMIT $1 FOR UPDATE OF o SKIP LOCKED) j
WHERE r.schedule_id = j.schedule_id AND r.due_at = j.due_at
RETURNING r.schedule_id, r.due_at, r.state, r.error

-- name: count_failures
-- Failures in a row after another run.
UPDATE schedules SET failures = $2, updated_at = now() WHERE id = $1

-- name: drop_old_runs
-- Ended runs after their time, a chunk at a time.
DELETE FROM schedule_runs WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM schedule_runs
    WHERE created_at < now() - $1 * interval '1 day' AND state NOT IN ('waiting', 'running')
    ORDER BY created_at LIMIT $2))
