-- Of the rows of one name, the most complete is found without looking at all of them.
CREATE INDEX job_keys_most_complete ON job_keys (job_id, key, filled DESC, row_no);
