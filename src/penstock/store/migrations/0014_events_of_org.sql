-- An org reads its own events in commit order without passing everybody's.
CREATE INDEX events_of_org ON events (org_id, xid, id);
