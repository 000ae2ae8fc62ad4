"""Files for jobs: uploads, URLs and paths."""
