-- Rows match inside their own source; products of other sources are found for links, or by a key that an
-- org has chosen to share.
ALTER TABLE orgs ADD COLUMN catalog_key text CHECK (catalog_key IN ('sku', 'gtin'));
GRANT UPDATE (catalog_key) ON orgs TO penstock_admin;

DROP INDEX products_sku;
DROP INDEX products_gtin;
CREATE INDEX products_sku ON products (org_id, sku, source) WHERE sku IS NOT NULL;
CREATE INDEX products_gtin ON products (org_id, gtin, source) WHERE gtin IS NOT NULL;
CREATE INDEX products_maker ON products (
    org_id, left(lower(((data->>'brand') || chr(31) || (data->'identifiers'->>'mpn')) COLLATE "C"), 200), source
) WHERE left(lower(((data->>'brand') || chr(31) || (data->'identifiers'->>'mpn')) COLLATE "C"), 200) IS NOT NULL;
