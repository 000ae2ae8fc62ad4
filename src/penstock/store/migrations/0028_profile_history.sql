-- The oldest versions of a profile are dropped when a new one is saved.

GRANT DELETE ON profiles TO penstock_api, penstock_admin;
