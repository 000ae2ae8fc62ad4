-- Documents are written once and copied often: every claim and settle writes its item's row anew.
-- Outside of the row they stay where they are, and packing them costs more than the space is worth.
ALTER TABLE job_items ALTER COLUMN normalized SET STORAGE EXTERNAL;
ALTER TABLE products ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE products ALTER COLUMN lineage SET STORAGE EXTERNAL;
