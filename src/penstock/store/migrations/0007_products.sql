-- The catalog: products, what jobs changed of them, and the keys of a job's rows.

CREATE TABLE products (
    id         uuid PRIMARY KEY,
    org_id     bigint NOT NULL REFERENCES orgs,
    source     text NOT NULL,
    source_id  text NOT NULL,
    sku        text,
    gtin       text,
    -- False: the supplier no longer has it.
    published  boolean NOT NULL DEFAULT true,
    version    integer NOT NULL DEFAULT 1,
    data       jsonb NOT NULL,
    -- Where each value came from: column or path, raw text, rule, confidence.
    lineage    jsonb NOT NULL DEFAULT '{}',
    -- The row of a job that wrote it last.
    job_id     uuid NOT NULL,
    row_no     integer NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (org_id, source, source_id)
) WITH (fillfactor = 80);

CREATE INDEX products_sku ON products (org_id, sku) WHERE sku IS NOT NULL;
CREATE INDEX products_gtin ON products (org_id, gtin) WHERE gtin IS NOT NULL;
CREATE INDEX products_listed ON products (org_id, updated_at DESC, id DESC);

-- Before-images: what a job found before it changed a product, once per job and product.
CREATE TABLE product_changes (
    job_id     uuid NOT NULL,
    product_id uuid NOT NULL,
    org_id     bigint NOT NULL,
    row_no     integer NOT NULL,
    -- The whole row as it was; NULL: there was none.
    before     jsonb,
    -- The version this job left; another one means that someone changed it since.
    version    integer NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    undone_at  timestamptz,
    PRIMARY KEY (job_id, product_id)
);

CREATE INDEX product_changes_history ON product_changes (product_id, changed_at DESC);

-- What a job's rows call themselves (SKU, GTIN, source id), to find the same product twice in one
-- file. Kept with the job: a row that is fixed later is compared again.
CREATE TABLE job_keys (
    job_id uuid NOT NULL,
    row_no integer NOT NULL,
    key    text NOT NULL,
    org_id bigint NOT NULL,
    -- How many fields the row fills, for whoever keeps the most complete one.
    filled smallint NOT NULL DEFAULT 0,
    PRIMARY KEY (job_id, row_no, key)
);

CREATE INDEX job_keys_found ON job_keys (job_id, key, row_no);

ALTER TABLE products ENABLE ROW LEVEL SECURITY;
ALTER TABLE product_changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE job_keys ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_org ON products TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON product_changes TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY own_org ON job_keys TO penstock_api USING (org_id = (SELECT current_org()));
CREATE POLICY all_orgs ON products TO penstock_admin USING (true);
CREATE POLICY all_orgs ON product_changes TO penstock_admin USING (true);
CREATE POLICY all_orgs ON job_keys TO penstock_admin USING (true);
GRANT SELECT ON products, product_changes TO penstock_api, penstock_admin;
-- Undoing a job puts products back as they were.
GRANT INSERT, UPDATE, DELETE ON products TO penstock_api, penstock_admin;
GRANT UPDATE ON product_changes TO penstock_api, penstock_admin;
