"""Sources that are configuration: requests, answers, and their products."""
