"""Users, passwords, sign-in and keys."""
