-- Jobs that an operation is reopening: few at a time, and looked for often.
CREATE INDEX jobs_reopening ON jobs (id) WHERE reopening IS NOT NULL;
