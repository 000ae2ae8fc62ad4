"""Folders, S3, FTP, SFTP and mailboxes behind one interface."""
