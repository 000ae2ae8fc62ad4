-- The catalog is looked through by the first characters of a SKU or GTIN: in byte order, so that an
-- index finds them whatever the database sorts by.
ALTER TABLE products ALTER COLUMN sku TYPE text COLLATE "C";
ALTER TABLE products ALTER COLUMN gtin TYPE text COLLATE "C";

-- What was taken back by an undo, so that a product's history can still tell it.
ALTER TABLE product_changes ADD COLUMN after jsonb;

-- Versions that an undo took back are not given again: whoever saw one must not take another for it.
CREATE INDEX product_changes_undone ON product_changes (product_id, version) WHERE undone_at IS NOT NULL;
