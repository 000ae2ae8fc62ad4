-- How many jobs ended in the last hour, up to a bound, and whether all that waits is in paused lanes.
CREATE FUNCTION last_hour(most integer)
    RETURNS TABLE (completed bigint, failed bigint, paused boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
BEGIN ATOMIC
    SELECT (SELECT count(*) FROM (
                SELECT 1 FROM jobs WHERE state = 'done' AND started_at IS NOT NULL
                  AND finished_at > now() - interval '1 hour' LIMIT most) AS d),
           (SELECT count(*) FROM (
                SELECT 1 FROM dead_letters WHERE state IN ('open', 'reprocessed', 'discarded')
                  AND last_failed_at > now() - interval '1 hour' LIMIT most) AS f),
           EXISTS (SELECT FROM paused_lanes) AND NOT EXISTS (
               SELECT FROM jobs j WHERE j.state = 'queued' AND NOT j.paused AND NOT j.standing
                 AND NOT EXISTS (SELECT FROM paused_lanes p WHERE p.lane = j.lane));
END;

REVOKE ALL ON FUNCTION last_hour(integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION last_hour(integer) TO penstock_api, penstock_admin;
