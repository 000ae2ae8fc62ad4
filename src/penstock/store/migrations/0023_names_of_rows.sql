-- Whoever puts a row right has the rows looked at again that share a name with it.
GRANT SELECT ON job_keys TO penstock_api, penstock_admin;
