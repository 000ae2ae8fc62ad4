-- Pages end at a number of bytes: the size of a document is known without reading it only where it
-- is not compressed.
ALTER TABLE job_items ALTER COLUMN input SET STORAGE EXTERNAL;
ALTER TABLE job_items ALTER COLUMN result SET STORAGE EXTERNAL;
