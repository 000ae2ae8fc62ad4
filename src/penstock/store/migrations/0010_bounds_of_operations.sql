-- An admin's operation over all orgs tells of other orgs' jobs: it is no business of their own org's.
DROP POLICY own_rows ON bulk_operations;
CREATE POLICY own_rows ON bulk_operations TO penstock_api
    USING (org_id = (SELECT current_org()) AND scope_org = org_id
           AND ((SELECT current_owner()) IS NULL OR user_id = (SELECT current_owner())));

-- Old keys are forgotten some at a time, oldest first.
CREATE INDEX idempotency_keys_age ON idempotency_keys (created_at);
