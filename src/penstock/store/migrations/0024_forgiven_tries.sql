-- An admin who resets a password forgives the tries with the old one.
CREATE POLICY all_orgs ON sign_in_tries TO penstock_admin USING (true);
GRANT SELECT, DELETE ON sign_in_tries TO penstock_admin;
