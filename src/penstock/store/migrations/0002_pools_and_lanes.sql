-- Pools of workers, lanes that stand still, caps of single orgs.

-- Workers that serve only some lanes, pipelines or stages are a pool of their own, and each pool
-- shares its own time: what an org got from its dedicated workers is not held against it elsewhere,
-- and does not move the clock of those who wait for the others.
ALTER TABLE virtual_clock ADD COLUMN pool text NOT NULL DEFAULT '';
ALTER TABLE virtual_clock DROP COLUMN one;
ALTER TABLE virtual_clock ADD PRIMARY KEY (pool);
ALTER TABLE org_time ADD COLUMN pool text NOT NULL DEFAULT '';
ALTER TABLE org_time DROP CONSTRAINT org_time_pkey;
ALTER TABLE org_time ADD PRIMARY KEY (org_id, pool);
ALTER TABLE slices ADD COLUMN pool text NOT NULL DEFAULT '';

-- Running slices this org may hold; unset: as many as any org.
ALTER TABLE orgs ADD COLUMN max_slices integer CHECK (max_slices > 0);

-- A lane in here stands still: nothing of it is claimed until it is taken out.
CREATE TABLE paused_lanes (
    lane      text PRIMARY KEY,
    user_id   bigint REFERENCES users,
    reason    text NOT NULL DEFAULT '',
    paused_at timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE paused_lanes ENABLE ROW LEVEL SECURITY;
-- The lane of an enterprise org carries its name, which is no other org's business.
CREATE POLICY own_org ON paused_lanes FOR SELECT TO penstock_api
    USING (lane NOT LIKE 'priority.%'
           OR lane = 'priority.' || (SELECT name FROM orgs WHERE id = (SELECT current_org())));
CREATE POLICY all_orgs ON paused_lanes TO penstock_admin USING (true);
GRANT SELECT ON paused_lanes TO penstock_api, penstock_admin;
GRANT INSERT, DELETE ON paused_lanes TO penstock_admin;
