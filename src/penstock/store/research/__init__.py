"""Research requests: their attempts, quotas and webhooks."""
