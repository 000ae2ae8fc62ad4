-- Products that a job's file lacks, where the job was asked to tell.
CREATE TABLE job_missing (
    job_id      uuid NOT NULL,
    source_id   text NOT NULL,
    org_id      bigint NOT NULL,
    product_id  uuid NOT NULL,
    sku         text,
    gtin        text,
    title       text,
    unpublished boolean NOT NULL,
    PRIMARY KEY (job_id, source_id)
);

ALTER TABLE job_missing ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON job_missing TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON job_missing TO penstock_admin USING (true);
GRANT SELECT ON job_missing TO penstock_api, penstock_admin;
