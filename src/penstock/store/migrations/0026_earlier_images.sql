-- A job may change a product, another one after it, and the first again: each undo needs its own image.
ALTER TABLE product_changes ADD COLUMN earlier jsonb;
