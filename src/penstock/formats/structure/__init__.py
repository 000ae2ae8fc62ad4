"""Where the table is among the rows of a file, and which rows are its header."""
