-- A failed job that is taken up again itself closes its letter, which must be found for that.
CREATE INDEX dead_letters_of_job ON dead_letters (job_id) WHERE state = 'open';
