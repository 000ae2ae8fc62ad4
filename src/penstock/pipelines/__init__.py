"""One module or folder per pipeline; `registry` lists them all.

Nothing is imported here: every child process that reads a file pays for what this package imports.
"""
