-- The latest time the installation has seen. A clock that says less has been set back, and what was
-- to happen soon would wait for as long as that.
CREATE TABLE clock (
    one  boolean PRIMARY KEY DEFAULT true CHECK (one),
    seen timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 10);

INSERT INTO clock DEFAULT VALUES;

ALTER TABLE clock ENABLE ROW LEVEL SECURITY;
