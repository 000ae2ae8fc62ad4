"""Webhook endpoints, and the deliveries that events lead to."""
